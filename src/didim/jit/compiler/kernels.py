"""Kernels become machine code: inner ones as Numba's functions, entries as object files that are
loaded without Numba.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from llvmlite import ir
from numba.core.compiler import Compiler
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.errors import NumbaError, NumbaPendingDeprecationWarning
from numba.core.registry import cpu_target

import didim.jit.compiler.lanes  # noqa: F401  # Numba reads its tables before it compiles
from didim.errors import InputError
from didim.jit.compiler.inner import inner_kernels_of
from didim.jit.compiler.types import numba_signature
from didim.jit.function_pointers import CompilationError
from didim.jit.processor import one_compiler
from didim.jit.types import Signature

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_INNER: dict[str, Any] = {**_OPTIONS, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
_NUMBAS = ("numba_", "NRT_", "Py", "_Py", "__svml_")
"""How names begin that only a process with Numba knows."""
_ADDRESSES = "numba.dynamic.globals"
"""How those of addresses in this process begin, which no other can use."""
_WORD = ir.IntType(64)
_target: Any = cpu_target
_Base: Any = _FunctionCompiler


def inner(function: Callable[..., Any], **options: Any) -> Any:
    """Numba's function of an inner kernel."""
    return numba.njit(**_INNER, **options)(function)


def entry_code(
    function: Callable[..., Any], signature: Signature, symbol: str
) -> tuple[bytes, bool]:
    """The object file of int64 symbol(int64 *words), and whether it runs without Numba's names. The
    arguments lie in the words as `jit.types` says, the result in the word behind them. It returns
    whether an error was raised.
    """
    return _object_code(function, signature, symbol, _called_with_words)


def c_code(function: Callable[..., Any], signature: Signature, symbol: str) -> tuple[bytes, bool]:
    """The object file of the kernel as a C function of this name, and whether it runs without
    Numba's names.
    """
    return _object_code(function, signature, symbol, _called_from_c)


def c_function(function: Callable[..., Any], signature: Signature) -> Any:
    """A user's function that compiled code calls; the `address` is valid as long as it lives."""
    _check_compiler()
    arguments, result = numba_signature(signature)
    try:
        with one_compiler(), warnings.catch_warnings():
            # Numba 0.59 warns of errors that are not its own before it raises them
            warnings.simplefilter("ignore", NumbaPendingDeprecationWarning)
            return numba.cfunc(result(*arguments))(function)
    except (NumbaError, TypeError, AttributeError) as problem:
        lines = str(problem).strip().splitlines()
        raise CompilationError(lines[-1] if lines else type(problem).__name__) from problem


class _Compiler(_Base):  # type: ignore[misc]  # Numba has no types
    """Numba's, which leaves the wrapper and the machine code to us."""

    def _customize_flags(self, flags: Any) -> Any:
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
        return flags


def _object_code(
    function: Callable[..., Any],
    signature: Signature,
    symbol: str,
    wrap: Callable[[Any, Any, Any, str], None],
) -> tuple[bytes, bool]:
    _check_compiler()
    compiler = _Compiler(function, _target, dict(_OPTIONS), {}, Compiler)
    with one_compiler(), _no_garbage_collection(), inner_kernels_of(function.__qualname__):
        compiled = compiler.compile(*numba_signature(signature))
        library, context = compiled.library, _target.target_context
        module = context.create_module("wrapper")
        wrap(context, module, compiled.fndesc, symbol)
        library.add_ir_module(module)
        library.finalize()
        final = library._final_module
        return bytes(library.codegen._tm.emit_object(final)), not _needs_numba(final)


def define_names() -> None:
    """Numba makes its own functions known to LLVM, for code that calls them."""
    _target.target_context  # noqa: B018  # made when it is first read


def _called_with_words(context: Any, module: Any, description: Any, symbol: str) -> None:
    """Words to arguments, and the result to the last word."""
    wrapper = ir.Function(module, ir.FunctionType(_WORD, [_WORD.as_pointer()]), symbol)
    build = ir.IRBuilder(wrapper.append_basic_block())
    packer = context.get_arg_packer(description.argtypes)

    def place(k: int) -> Any:
        return build.gep(wrapper.args[0], [_WORD(k)])

    parts = [
        _part(build, build.load(place(k)), each) for k, each in enumerate(packer.argument_types)
    ]
    failed, result = _call(context, build, description, packer.from_arguments(build, parts))
    if isinstance(result.type, ir.DoubleType):
        build.store(build.bitcast(result, _WORD), place(len(parts)))
    elif isinstance(result.type, ir.IntType):
        build.store(build.zext(result, _WORD), place(len(parts)))
    build.ret(build.zext(failed, _WORD))


def _part(build: Any, word: Any, kind: Any) -> Any:
    """What a word holds."""
    if isinstance(kind, ir.PointerType):
        return build.inttoptr(word, kind)
    if isinstance(kind, ir.DoubleType):
        return build.bitcast(word, kind)
    return word if kind == _WORD else build.trunc(word, kind)


def _called_from_c(context: Any, module: Any, description: Any, symbol: str) -> None:
    """Arguments and result as C has them."""
    kinds = [context.get_value_type(kind) for kind in description.argtypes]
    nothing = description.restype == numba.types.none
    returned = ir.VoidType() if nothing else context.get_value_type(description.restype)
    wrapper = ir.Function(module, ir.FunctionType(returned, kinds), symbol)
    build = ir.IRBuilder(wrapper.append_basic_block())
    _, result = _call(context, build, description, wrapper.args)
    build.ret_void() if nothing else build.ret(result)


def _call(context: Any, build: Any, description: Any, arguments: Any) -> tuple[Any, Any]:
    """Call the kernel: whether an error was raised, and the result."""
    convention, kinds = context.call_conv, description.argtypes
    function = ir.Function(
        build.module,
        convention.get_function_type(description.restype, kinds),
        description.llvm_func_name,
    )
    status, result = convention.call_function(
        build, function, description.restype, kinds, arguments, attrs=("noinline",)
    )
    return status.is_error, result


def _needs_numba(module: Any) -> bool:
    """Whether it names what comes with Numba."""
    names = [*module.functions, *module.global_variables]
    assert not any(each.name.startswith(_ADDRESSES) for each in names), "kernels hold no addresses"
    return any(each.is_declaration and each.name.startswith(_NUMBAS) for each in names)


def _check_compiler() -> None:
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        raise InputError("didim needs Numba's compiler; unset NUMBA_DISABLE_JIT.")


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """The compiler makes millions of objects that live until its end: looking for garbage among
    them takes a twentieth of its time.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()
