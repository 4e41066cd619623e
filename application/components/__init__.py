"""Components: found in the libraries, shown, put into a circuit, counted."""
