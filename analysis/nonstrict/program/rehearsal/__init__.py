"""A program gone through as Python would run it, with tensors of which only sizes and kinds are known.

Numbers, texts and containers are those of Python, computed as Python does; of a tensor it is kept what Dynamo guards:
sizes, dtype, whether it is a parameter and needs gradients. What cannot be known is `UNKNOWN`, and what follows from it
is too. Nothing of the program is run, and nothing of torch is imported. What each call of a compiled function is given
is noted: from that follows what varies from call to call.
"""
