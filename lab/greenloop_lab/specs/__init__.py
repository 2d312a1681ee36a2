"""Parts for specifications."""
