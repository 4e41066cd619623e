"""What all circuit families share: a family is data (`declaration`) and two functions; the rest is here."""
