"""Simulation: requests, results, waveforms, expressions, measurements."""
