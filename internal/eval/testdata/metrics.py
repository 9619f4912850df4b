# Prints what TestMetricsOfSklearn compares with: python3 metrics.py (scikit-learn 1.2.1).
import numpy as np
from sklearn.metrics import (accuracy_score, average_precision_score, balanced_accuracy_score,
                             brier_score_loss, confusion_matrix, f1_score, log_loss,
                             precision_recall_fscore_support, roc_auc_score)


def draws(n, s=1):
    out = []
    for _ in range(n):
        s = (1103515245 * s + 12345) % 2**31
        out.append(s / 2**31)
    return np.array(out)


u = draws(600).reshape(200, 3)
y = np.where(u[:, 0] < .3, 1, -1)
f = y * .5 + (u[:, 1] - .5) * 4
p = 1 / (1 + np.exp(-f))
g = np.where(f >= 0, 1, -1)
for w in np.ones(200), 1 + np.floor(4 * u[:, 2]):
    o = {"sample_weight": w}
    print(1 - accuracy_score(y, g, **o), 1 - balanced_accuracy_score(y, g, **o),
          f1_score(y, g, **o), roc_auc_score(y, f, **o), average_precision_score(y, f, **o),
          log_loss(y, p, **o), brier_score_loss(y, p, **o))
c = np.floor(5 * u[:, 0]**2).astype(int)
d = np.where(u[:, 1] < .6, c, np.floor(6 * u[:, 2])).astype(int)
k = np.arange(6)
q = np.exp(3 * np.sin(np.arange(200)[:, None] * 7 + k * 3) + 2 * (k == c[:, None]))
q /= q.sum(1, keepdims=True)
print(1 - accuracy_score(c, d), 1 - balanced_accuracy_score(c, d),
      f1_score(c, d, average="macro", zero_division=0), log_loss(c, q, labels=range(6)),
      np.mean(((q - np.eye(6)[c])**2).sum(1)))
print(precision_recall_fscore_support(c, d, zero_division=0)[:3])
print(confusion_matrix(c, d).tolist())
