"""A measurement as figures, tables and one page that can be sent to somebody."""
