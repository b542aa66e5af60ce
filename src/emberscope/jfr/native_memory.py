import numpy as np
def freed(a, b, c, d):
    return np.zeros(len(a), bool)
