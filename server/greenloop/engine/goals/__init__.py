"""Requirements that measure: each file begins one."""
