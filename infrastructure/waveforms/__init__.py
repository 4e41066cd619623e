"""Waveforms on the disk: raw files of several simulators, and the column file beside them."""
