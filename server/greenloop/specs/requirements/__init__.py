"""Requirements of the settings: each file begins one."""
