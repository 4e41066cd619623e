"""Circuit Design AI as it is installed from a wheel; the program lies in the folder `program`."""
