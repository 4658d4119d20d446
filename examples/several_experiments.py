"""Several records together: what more data buys, and what a held-out record says."""

import didim

model = didim.DynamicModel(didim.load_robot("double_pendulum"))
loop = didim.PD.parallel(Kp=[40.0, 20.0], Kd=[4.0, 2.0])


def measured(seed: int, name: str) -> didim.Experiment:
    """One motion of the virtual robot; didim.load_experiment(...) for a real one."""
    trajectory = didim.Fourier.random(model.robot, seed, period=6.0, periods=2)
    record, _ = didim.virtual_experiment(
        model, model.nominal, loop, trajectory, rate=500, noise=0.05, seed=seed, name=name
    )
    return record


records = [measured(seed, f"motion {seed}") for seed in (1, 2, 3, 4)]
held_out = measured(9, "held out")
method = didim.DIDIM(controller=loop, decimation=10)

print("records   residual   of the held-out record   median % sigma")
for count in (1, 2, 4):
    estimate = didim.identify(model, records[:count], method, validation=held_out)
    sigma = sorted(estimate.relative_sigma)[len(estimate.names) // 2]
    tried = estimate.validation[0]
    print(
        f"{count:7}   {100 * estimate.residual:6.2f} %   {100 * tried.residual:20.2f} %   "
        f"{sigma:12.2g}"
    )

print(estimate.summary())
estimate.save("pendulum.json", overwrite=True)
print("Report:", estimate.report("pendulum.html", overwrite=True))
