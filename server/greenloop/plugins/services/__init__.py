"""Services that tests connect to, such as PostgreSQL: their ports and accounts as the project names them."""
