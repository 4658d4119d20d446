"""A controller of your own in the simulated loop: a PD law whose position gain softens near the
target.
"""

import numpy as np

import didim

model = didim.DynamicModel(didim.load_robot("scara"))
stiff = 2 * 40.0 * didim.largest_inertias(model, model.nominal)  # N m s/rad: damping for 40 rad/s
KV1, KV2 = float(stiff[0]), float(stiff[1])  # numbers that are constant when the law is compiled


@didim.control_law
def softening(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):
    """v = kv (kp(e) e - dq), kp between 12 and 20 1/s."""
    for j in range(n):
        e = q_ref[j] - q[j]
        kp = 20.0 - 8.0 / (1.0 + (e / 0.02) ** 2)
        kv = KV1 if j == 0 else KV2
        v[j] = kv * (kp * e - dq[j])


loop = didim.OwnLaw(law=softening, rate=1000, saturation=80.0)
trajectory = didim.Fourier.random(model.robot, seed=1, period=7.0, periods=3, share=1.0)
record, truth = didim.virtual_experiment(
    model, model.nominal, loop, trajectory, rate=500, noise=0.03
)  # your robot's log here

estimate = didim.identify(model, record, didim.DIDIM(controller=loop, decimation=10))
print(estimate.summary())

plain = didim.PD(kp=[16.0, 16.0], kv=[KV1, KV2], rate=1000)  # the nearest law that didim knows
other = didim.identify(model, record, didim.DIDIM(controller=plain, decimation=10))
left, instead = 100 * estimate.residual, 100 * other.residual
print(
    f"With your law {left:.2g} % of the torque is left, with a plain PD in its place {instead:.2g} "
    "%."
)
worst = np.max(np.abs(estimate.values - model.base.nominal) / estimate.corrected_sigma)
print(f"The largest error with your law is {worst:.1f} sigma.")
