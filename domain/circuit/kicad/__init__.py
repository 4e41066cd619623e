"""KiCad's schematics (`.kicad_sch`) as netlists of ngspice."""
