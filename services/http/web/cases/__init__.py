"""Claims, rulings and appeals."""
