"""What a circuit is made of: stages, roles of nodes, feedback, told by how its elements are connected.

`recogniser.recognise` is the door. Names never decide: a circuit with other names and its lines in another
order is the same.
"""
