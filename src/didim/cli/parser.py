"""The commands, their options and their help. Nothing heavy is imported here: `didim --help` must
be quick.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn

from didim import __version__
from didim.errors import readable

_SET = (
    "change a key of the study: dotted path=value, as in didim.refine=true or "
    "experiment.0.use=validate; repeatable"
)
_SET_LEAGUE = "change a key of the league: dotted path=value, as in seeds=2; repeatable"
_SHELLS = ("bash", "zsh", "tcsh")
ANSWERS = (
    "study",
    "identify",
    "check",
    "compare",
    "improve",
    "payload",
    "excite",
    "simulate",
    "base",
    "fleet",
    "league",
)


class _Parser(argparse.ArgumentParser):
    """Wrong usage is one line as well."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and stop with status 2."""
        self.exit(2, f"{self.prog}: error: {readable(message)} (see {self.prog} --help)\n")


def _command(name: str) -> Callable[[argparse.Namespace], int]:
    """The function `run` of a module of didim.cli, imported when it is called."""

    def run(options: argparse.Namespace) -> int:
        status: int = import_module(f"didim.cli.{name}").run(options)
        return status

    return run


class _Commands:
    """Adds commands with the options that all have."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._all = parser.add_subparsers(
            title="commands", metavar="COMMAND", required=True, parser_class=_Parser
        )
        self._common = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
        self._common.add_argument(
            "--debug", action="store_true", help="show the traceback of an error"
        )

    def add(
        self, name: str, about: str, examples: str, description: str = ""
    ) -> argparse.ArgumentParser:
        """One command; `examples` are shown below its help."""
        sentence = f"{about[0].upper()}{about[1:]}."
        command: argparse.ArgumentParser = self._all.add_parser(
            name,
            parents=[self._common],
            help=about,
            description=f"{sentence} {description}".strip(),
            epilog="examples:\n"
            + "\n".join(f"  {line.strip()}" for line in examples.splitlines() if line.strip()),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.set_defaults(run=_command(name))
        return command


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = _Parser(
        prog="didim",
        description="Identify the dynamics of a robot from its joint torques.",
        epilog="start with: didim demo, or didim init --robot arm.urdf --data run.csv",
    )
    parser.add_argument("--version", action="version", version=f"didim {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = _Commands(parser)
    for add in (_add_init, _add_check, _add_identify, _add_improve, _add_compare, _add_payload):
        add(commands)
    for add in (
        _add_excite,
        _add_fleet,
        _add_league,
        _add_simulate,
        _add_export,
        _add_base,
        _add_demo,
        _add_paper,
        _add_schema,
        _add_completion,
    ):
        add(commands)
    return parser


def _files(argument: Any) -> None:
    """Let shell completion offer files."""
    argument.complete = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}


def _study(command: argparse.ArgumentParser) -> None:
    _files(
        command.add_argument(
            "study", metavar="FILE", help="the study, a .toml file; didim init writes one"
        )
    )
    command.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help=_SET)


def _json(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--json",
        action="store_true",
        help="one JSON object on standard output, and nothing else there",
    )


def _project(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--project",
        action="store_true",
        help="write the nearest physical robot where the identified one is not physical, and say "
        "what changed",
    )


def _force(command: argparse.ArgumentParser) -> None:
    command.add_argument("--force", action="store_true", help="write over existing files")


def _joints(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--joints",
        metavar="LIST",
        help="comma-separated names of the joints that move; the others are held",
    )
    command.add_argument(
        "--lock",
        metavar="JOINT=POSITION",
        action="append",
        default=[],
        help="hold a joint there, rad or m (default of joints that do not move: 0); repeatable",
    )


def _add_init(commands: _Commands) -> None:
    init = commands.add(
        "init",
        "write a commented study that runs as it is",
        """didim init
        didim init arm.toml --robot arm.urdf
        didim init arm.toml --robot arm.urdf --data run.csv
        didim init arm.toml --robot mobile.urdf --lock wheel_left=0 --lock wheel_right=0""",
        "Without --data it comes with a virtual record of the robot; with it, the columns are "
        "guessed from their names or, without a header, from what they hold.",
    )
    _files(
        init.add_argument(
            "study",
            metavar="FILE",
            nargs="?",
            default="study.toml",
            help="to write (default %(default)s)",
        )
    )
    _files(
        init.add_argument(
            "--robot",
            metavar="FILE",
            default="scara",
            help="a .urdf, .xml (MJCF) or .toml file, or a shipped robot",
        )
    )
    _files(
        init.add_argument(
            "--data", metavar="FILE", help="your log: .csv .tsv .mat .npz .parquet .bag .mcap"
        )
    )
    _joints(init)
    _force(init)


def _add_check(commands: _Commands) -> None:
    check = commands.add(
        "check",
        "find data problems to fix before identifying",
        """didim check study.toml
        didim check study.toml --set experiment.between=[0,10]""",
        "Each finding is pass, warn or fail, with a remedy. Exit status 1 if one fails.",
    )
    _study(check)
    _json(check)


def _add_identify(commands: _Commands) -> None:
    identify = commands.add(
        "identify",
        "identify the parameters of the model that a study describes",
        """didim identify study.toml
        didim identify study.toml --report report.html
        didim identify study.toml --set method=idim --out result.json
        didim identify study.toml --set didim.estimate_gains=true --json""",
        "Exit status 0: converged, 1: not converged, 2: bad input.",
    )
    _study(identify)
    _json(identify)
    _files(
        identify.add_argument(
            "--out", metavar="FILE", help="save the result: a .json file, and an .npz beside it"
        )
    )
    _files(
        identify.add_argument(
            "--robot-out", metavar="FILE", help="write the identified robot: .urdf, .xml or .toml"
        )
    )
    _files(
        identify.add_argument(
            "--report", metavar="FILE", help="write an HTML report, one file that opens from disk"
        )
    )
    _project(identify)
    _force(identify)


def _add_improve(commands: _Commands) -> None:
    improve = commands.add(
        "improve",
        "add to a study what its records support",
        """didim improve study.toml
        didim improve study.toml --out improved.toml --report improved.html
        didim improve study.toml --set controller.law=unknown --json""",
        "Identify, test what is missing, add it, repeat. Something stays only if records that the "
        'fit did not see are predicted better: those with use = "validate", or each third of '
        "the others in turn. Exit status as for identify, of the last model.",
    )
    _study(improve)
    _json(improve)
    _files(
        improve.add_argument(
            "--out",
            metavar="FILE",
            help="write the improved study: a .toml file, not the old one",
        )
    )
    _files(
        improve.add_argument(
            "--report", metavar="FILE", help="write an HTML report with the path to the model"
        )
    )
    _force(improve)


def _add_compare(commands: _Commands) -> None:
    compare = commands.add(
        "compare",
        "run IDIM, IV, DIDIM and refined DIDIM on the same records",
        """didim compare study.toml
        didim compare study.toml --json""",
        "Parameters that differ by more than 3 sigma are flagged.",
    )
    _study(compare)
    _json(compare)


def _add_payload(commands: _Commands) -> None:
    payload = commands.add(
        "payload",
        "identify what a robot carries",
        """didim payload empty.json loaded.toml
        didim payload empty.json loaded.csv --report loaded.html
        didim payload empty.json loaded.toml --robot-out loaded.urdf --like arm.urdf --json""",
        "RESULT is a saved result of the empty robot; FILE a study with the records of the loaded "
        "one, or records with the columns of its own. Mass, centre and inertia come with the "
        "uncertainty of both.",
    )
    _files(
        payload.add_argument(
            "result", metavar="RESULT", help="a result that didim identify --out saved (.json)"
        )
    )
    _files(
        payload.add_argument(
            "files", metavar="FILE", nargs="+", help="a study (.toml), or records with the load"
        )
    )
    payload.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help=_SET)
    payload.add_argument(
        "--link", metavar="JOINT", help="the joint whose link carries it (default: the last one)"
    )
    payload.add_argument(
        "--torque-sigma",
        metavar="FRACTION",
        type=float,
        default=0.0,
        help="relative standard deviation of the drive gains, such as 0.05, for the intervals",
    )
    payload.add_argument(
        "--hold-friction",
        action="store_true",
        help="friction and offsets are those of the empty robot (default: estimated again)",
    )
    _json(payload)
    _files(
        payload.add_argument(
            "--out", metavar="FILE", help="save the robot with its load: a .json file, and an .npz"
        )
    )
    _files(
        payload.add_argument(
            "--robot-out",
            metavar="FILE",
            help="write the robot with its load: .urdf, .xml or .toml",
        )
    )
    _files(
        payload.add_argument("--like", metavar="FILE", help="keep the links of this URDF or MJCF")
    )
    _files(payload.add_argument("--report", metavar="FILE", help="write an HTML report"))
    _project(payload)
    _force(payload)


def _add_excite(commands: _Commands) -> None:
    excite = commands.add(
        "excite",
        "plan the motion whose record tells most about a robot",
        """didim excite arm.urdf --duration 20 --floor 0 --out plan.csv --report plan.html
        didim excite study.toml --gains-unknown --out plan.yaml
        didim excite study.toml --after result.json --out next.csv --json""",
        "ROBOT is a robot, or a study that describes its loop, its limits ([limits]) and the "
        "design ([excite]). The motion stays inside every limit, or is refused with the one that "
        "binds. Ctrl-C stops with the best plan so far. Exit status 0: planned, 1: stopped or no "
        "such motion, 2: bad input.",
    )
    _files(
        excite.add_argument(
            "source",
            metavar="ROBOT",
            help="a shipped robot's name, a .urdf, .xml or .toml file, or a study (.toml)",
        )
    )
    excite.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help=_SET)
    excite.add_argument(
        "--duration", metavar="SECONDS", type=float, help="of the motion (default 20)"
    )
    excite.add_argument(
        "--rate",
        metavar="HZ",
        type=float,
        help="samples per second of the record and of --out (default: the controller's, or 1000)",
    )
    excite.add_argument("--seed", type=int, metavar="N", help="of the search (default 0)")
    excite.add_argument(
        "--gains-unknown",
        action="store_true",
        default=None,
        help="the gains of the study's loop are to be estimated too",
    )
    excite.add_argument("--floor", metavar="Z", type=float, help="height of the floor, m")
    excite.add_argument(
        "--self-collision",
        metavar="M",
        type=float,
        help="clearance between links, m (default 0.01 where the description has all shapes)",
    )
    _files(
        excite.add_argument(
            "--after",
            metavar="RESULT",
            action="append",
            default=[],
            help="a saved result (.json): plan what it does not know yet; repeatable",
        )
    )
    excite.add_argument(
        "--random-plans",
        metavar="N",
        type=int,
        help="compare with the best of N random plans (default 20 with --report, else 0)",
    )
    _joints(excite)
    _json(excite)
    _files(
        excite.add_argument(
            "--out",
            metavar="FILE",
            help="write the trajectory: .csv, .json, or a ROS 2 JointTrajectory as .yaml or .mcap",
        )
    )
    _files(
        excite.add_argument(
            "--report", metavar="FILE", help="write an HTML report, one file that opens from disk"
        )
    )
    _force(excite)


def _many(command: argparse.ArgumentParser, written: str) -> None:
    """Options of commands that run many identifications."""
    _files(
        command.add_argument(
            "--out",
            metavar="FOLDER",
            help=f"write {written} there; run again with the same folder, it goes on with what is "
            "missing",
        )
    )
    command.add_argument(
        "--jobs", metavar="N", type=int, help="identifications at once (default: one per core)"
    )
    command.add_argument(
        "--engine",
        choices=("local", "dask"),
        default="local",
        help="processes of this machine, or a Dask cluster (default %(default)s)",
    )
    command.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="of a running Dask cluster, such as tcp://10.0.0.1:8786; with --engine dask",
    )


def _add_fleet(commands: _Commands) -> None:
    fleet = commands.add(
        "fleet",
        "identify many robots or days and flag what differs or drifts",
        """didim fleet arm1.toml arm2.toml arm3.toml arm4.toml arm5.toml --out fleet
        didim fleet arm.toml --logs "logs/*.csv" --name "{robot}_day{time}" --out fleet
        didim fleet arm.toml --logs "logs/*.csv" --engine dask --scheduler tcp://10.0.0.1:8786""",
        "Each FILE is a study of one robot at one time; with --logs, one study is run on each log. "
        "Robots and times are in the names of the files: an ISO date, or as --name says. Exit "
        "status 0: nothing stands out, 1: something does or was not identified, 2: bad input.",
    )
    _files(fleet.add_argument("studies", metavar="FILE", nargs="+", help="studies, .toml files"))
    fleet.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help=_SET)
    fleet.add_argument(
        "--logs",
        metavar="PATTERN",
        action="append",
        default=[],
        help="logs that the study is run on, such as 'logs/*.csv'; repeatable",
    )
    fleet.add_argument(
        "--name",
        metavar="PATTERN",
        help="where the names of the files, without ending, have robot and time: "
        '"{robot}_day{time}"',
    )
    _many(fleet, "rows (Parquet), the report fleet.html and those of the single identifications")
    _json(fleet)


def _add_league(commands: _Commands) -> None:
    league = commands.add(
        "league",
        "compare methods on virtual robots, by Monte-Carlo",
        """didim league league.toml --out league
        didim league league.toml --set seeds=2 --json
        didim league league.toml --engine dask --scheduler tcp://10.0.0.1:8786 --out league""",
        "The file lists robots, loops, noise and faults, methods and seeds; every combination is "
        "run. The table has error, coverage, failures and time of each method. Exit status 0: "
        "every identification gave a result, 1: some failed, 2: bad input.",
    )
    _files(league.add_argument("league", metavar="FILE", help="the league, a .toml file"))
    league.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help=_SET_LEAGUE)
    _many(league, "rows (Parquet), league.png and league.md")
    _json(league)


def _add_simulate(commands: _Commands) -> None:
    simulate = commands.add(
        "simulate",
        "simulate the robot of a study in its loop and write the motion",
        """didim simulate study.toml --out motion.csv
        didim simulate study.toml --with result.json --out motion.npz""",
        "The parameters are the described ones, or those of a saved result.",
    )
    _study(simulate)
    _files(
        simulate.add_argument(
            "--with",
            metavar="RESULT",
            dest="result",
            help="a result that didim identify --out saved",
        )
    )
    _files(
        simulate.add_argument(
            "--out", metavar="FILE", default="motion.csv", help=".csv or .npz (default %(default)s)"
        )
    )
    _files(
        simulate.add_argument(
            "--mujoco",
            metavar="MJCF",
            nargs="?",
            const="",
            help="also step MuJoCo in the same loop: this exported .xml, or a new one of the robot",
        )
    )
    _files(
        simulate.add_argument(
            "--picture", metavar="FILE", help="draw the difference of MuJoCo and didim: .png"
        )
    )
    _json(simulate)
    _force(simulate)


def _add_export(commands: _Commands) -> None:
    export = commands.add(
        "export",
        "write an identified model as a robot file or as code",
        """didim export result.json --out identified.urdf --like arm.urdf
        didim export result.json --out identified.urdf --project
        didim export result.json --out identified.xml --like robot.xml
        didim export result.json --table
        didim export result.json --out inverse_dynamics.py
        didim export result.json --out inverse_dynamics.c""",
        "The ending of the file decides: .urdf, .xml (MJCF) or .toml for a robot, .py or .c for a "
        "function "
        "without dependencies that "
        "computes the identified torques. A robot that is not physical is refused without "
        "--project; code of it is written with a warning.",
    )
    _files(
        export.add_argument(
            "result", metavar="RESULT", help="a result that didim identify --out saved (.json)"
        )
    )
    _files(export.add_argument("--out", metavar="FILE", help=".urdf, .xml, .toml, .py or .c"))
    like = (
        "the URDF or MJCF that the robot came from: keep its links, names, fixed frames and "
        "meshes, and replace values only"
    )
    _files(export.add_argument("--like", metavar="FILE", help=like))
    export.add_argument(
        "--stiff-friction",
        action="store_true",
        help="let joints of the written MJCF creep less (solreffriction)",
    )
    export.add_argument(
        "--table",
        action="store_true",
        help="print armature, damping, friction loss and gains of each joint, for any simulator",
    )
    _project(export)
    _force(export)


def _add_base(commands: _Commands) -> None:
    base = commands.add(
        "base",
        "print the base parameters of a robot",
        """didim base scara
        didim base arm.urdf --effects rotor,viscous,coulomb
        didim base tx40 --json""",
        "What they regroup, and their nominal values.",
    )
    _files(
        base.add_argument(
            "robot", metavar="ROBOT", help="a shipped robot's name, or a .toml, .urdf or .xml file"
        )
    )
    base.add_argument(
        "--effects",
        metavar="LIST",
        help="comma-separated: rotor viscous coulomb offset coupling asymmetric_viscous "
        "asymmetric_coulomb, or none; "
        "default: what the robot declares",
    )
    _joints(base)
    _json(base)


def _add_demo(commands: _Commands) -> None:
    demo = commands.add(
        "demo",
        "identify a virtual SCARA with IDIM and DIDIM",
        """didim demo
        didim demo --picture torques.png
        didim demo --report demo.html""",
        "Prints the table, draws the torques and writes the HTML report of DIDIM.",
    )
    _files(
        demo.add_argument(
            "--picture",
            metavar="FILE",
            default="didim-demo.png",
            help="to write (default %(default)s)",
        )
    )
    _files(
        demo.add_argument(
            "--report",
            metavar="FILE",
            default="didim-demo.html",
            help="to write (default %(default)s)",
        )
    )
    _force(demo)


def _add_paper(commands: _Commands) -> None:
    paper = commands.add(
        "paper",
        "run the paper's experiments on a virtual SCARA",
        """didim paper
        didim paper --table 5
        didim paper --figures pictures
        didim paper --table 8 --loop 50,60 --trajectory 70""",
        "Section VI: Tables 1-9 by the method as printed, the guarded one and the paper's figures "
        "beside it, Figures 10-15, and which claims hold here.",
    )
    paper.add_argument("--table", type=int, metavar="N", help="one table only, 1 to 9")
    paper.add_argument(
        "--figures",
        metavar="FOLDER",
        help="draw Figures 10-15 there (default, without --table: didim-paper)",
    )
    paper.add_argument("--seed", type=int, default=0, metavar="N", help="of the noise (default 0)")
    paper.add_argument(
        "--trajectory",
        type=int,
        default=2010,
        metavar="N",
        help="seed of the trajectory, a Fourier series (default 2010)",
    )
    paper.add_argument(
        "--loop",
        default="20,50",
        metavar="W1,W2",
        help="natural frequencies of the true loop, rad/s (default 20,50)",
    )
    _force(paper)


def _add_schema(commands: _Commands) -> None:
    schema = commands.add(
        "schema",
        "print the JSON Schema of the study file or of a command's --json",
        """didim schema study
        didim schema identify""",
        "Editors complete and check study files with it.",
    )
    schema.add_argument(
        "of",
        metavar="WHAT",
        choices=ANSWERS,
        nargs="?",
        default="study",
        help=f"one of {', '.join(ANSWERS)}",
    )


def _add_completion(commands: _Commands) -> None:
    completion = commands.add(
        "completion",
        "print a script that lets a shell complete didim's commands",
        """didim completion bash
        eval "$(didim completion bash)\"""",
        "For bash, put the second line into ~/.bashrc.",
    )
    completion.add_argument("shell", choices=_SHELLS, help="bash, zsh or tcsh")
