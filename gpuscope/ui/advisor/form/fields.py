"""The guided form's fields as data: in which order they are asked, what they are called and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import QCoreApplication

from gpuscope.ui.advisor.form.texts import EPOCHS, INFERENCE, OWN_LOAD, SAMPLES, STEPS, TRAINING

translate = QCoreApplication.translate

Choices = tuple[tuple[str, str], ...]
"""Values with their texts."""
PRECISIONS = ("float32", "tf32", "bfloat16", "float16", "float8_e4m3fn")


class Kind(Enum):
    """How a field is filled in."""

    LINE = auto()
    CHOICE = auto()
    CHECKLIST = auto()
    SWITCH = auto()
    QUOTES = auto()


@dataclass(frozen=True, slots=True)
class Field:
    """One field."""

    name: str
    """Of the field in `ConstraintTexts`."""
    label: str
    """`{0}` stands for the person's currency."""
    explanation: str
    """What it means and in which unit; shown on hover and by F1."""
    kind: Kind = Kind.LINE
    placeholder: str = ""
    choices: Choices = ()
    """Of a choice or checklist; empty where they come from the catalogue."""
    wide: bool = False


@dataclass(frozen=True, slots=True)
class SectionFields:
    """Fields under one title."""

    name: str
    title: str
    fields: tuple[Field, ...]
    is_open: bool = False


def work_section() -> SectionFields:
    """Training or inference, how much of it, and by when."""
    any_time, not_given = translate("Form", "any time"), translate("Form", "not given")
    return SectionFields(
        "work",
        translate("Form", "What for, how much, by when"),
        (
            Field(
                "stage", translate("Form", "&Used for"),
                translate("Form", "Training, or inference: answering requests. Otherwise as in the run."),
                Kind.CHOICE, choices=(("", translate("Form", "as in the run")),
                                      (TRAINING, translate("Form", "training")),
                                      (INFERENCE, translate("Form", "inference"))),
            ),
            Field(
                "deadline", translate("Form", "&Done within, or by"),
                translate("Form", "A length of time such as 36h or 2d, a number of hours, or a moment such as "
                                  "Fri 18:00 or 2026-12-04 18:00."),
                placeholder=any_time,
            ),
            Field(
                "total", translate("Form", "&Work in all"),
                translate("Form", "How much there is to do, such as 50k; without it there is no time and no cost of "
                                  "the whole work."),
                placeholder=not_given,
            ),
            Field(
                "total_unit", translate("Form", "&Counted in"),
                translate("Form", "Steps as in the run, samples (or tokens, as the run counts), or epochs."),
                Kind.CHOICE, choices=((STEPS, translate("Form", "steps")), (SAMPLES, translate("Form", "samples")),
                                      (EPOCHS, translate("Form", "epochs"))),
            ),
            Field(
                "samples_per_epoch", translate("Form", "Samples an &epoch"),
                translate("Form", "Size of the data set, such as 1.28M."),
            ),
            Field(
                "keep_global_batch", translate("Form", "More GPUs share the batch"),
                translate("Form", "The batch of all GPUs together stays as it is (strong scaling). Otherwise each GPU "
                                  "keeps its batch, and more is done in a step."),
                Kind.SWITCH,
            ),
        ),
        is_open=True,
    )  # fmt: skip


def service_section() -> SectionFields:
    """What a service has to do."""
    not_asked = translate("Form", "not asked for")
    latency = translate("Form", "such as 200 ms")
    return SectionFields(
        "service",
        translate("Form", "Service: requests and latency"),
        (
            Field("prompt_tokens", translate("Form", "Prompt, tokens"),
                  translate("Form", "Tokens in the prompt of a usual request; leave it empty for models that generate "
                                    "no text."),
                  placeholder=translate("Form", "such as 1000")),
            Field("output_tokens", translate("Form", "Answer, tokens"),
                  translate("Form", "Tokens that a usual request generates."),
                  placeholder=translate("Form", "such as 250")),
            Field("time_to_first_token", translate("Form", "First token within"),
                  translate("Form", "Time from the request until the first token (TTFT); a bare number is "
                                    "milliseconds."), placeholder=latency),
            Field("inter_token_latency", translate("Form", "Each next token within"),
                  translate("Form", "Time between two tokens of an answer; 50 ms is 20 tokens a second for the reader. "
                                    "A bare number is milliseconds."), placeholder=latency),
            Field("latency", translate("Form", "Whole request within"),
                  translate("Form", "From the request to the end of the answer; of a batch for models that generate no "
                                    "text. A bare number is milliseconds."), placeholder=latency),
            Field("requests_per_second", translate("Form", "Requests a second"),
                  translate("Form", "At the busiest hour of the day."), placeholder=not_asked),
            Field("concurrent_users", translate("Form", "Users at the same time"),
                  translate("Form", "Requests that are in work at the same time, at the busiest hour."),
                  placeholder=not_asked),
            Field("load_shape", translate("Form", "Load over the day"),
                  translate("Form", "With a load that changes, replicas can be switched off in quiet hours: the answer "
                                    "says what that saves. Office and evening are assumed shapes."),
                  Kind.CHOICE, choices=(("", translate("Form", "the same all day")),
                                        ("office", translate("Form", "office hours")),
                                        ("evening", translate("Form", "evening peak")),
                                        (OWN_LOAD, translate("Form", "own 24 figures")))),
            Field("hourly_load", translate("Form", "Load of each hour"),
                  translate("Form", "24 figures from midnight on, in any unit: only their ratios count."), wide=True),
            Field("weight_dtypes", translate("Form", "Weights may be stored as"),
                  translate("Form", "Fewer bits need less memory and generate faster, but may cost quality. Nothing "
                                    "ticked: as in the run."),
                  Kind.CHECKLIST, choices=tuple((name, name) for name in
                                                ("float16", "bfloat16", "float8", "int8", "float4", "int4"))),
            Field("cache_dtype", translate("Form", "KV cache stored as"),
                  translate("Form", "Format of the keys and values that are kept for each token."), Kind.CHOICE,
                  choices=(("", translate("Form", "as it computes")), ("float16", "float16"), ("float8", "float8"),
                           ("int8", "int8"))),
        ),
        is_open=True,
    )  # fmt: skip


def speed_section() -> SectionFields:
    """Memory, precision, speed."""
    return SectionFields(
        "speed",
        translate("Form", "Memory, precision, speed"),
        (
            Field("minimum_memory", translate("Form", "Memory a GPU, at least"),
                  translate("Form", "Of each GPU, such as 40 GiB or 80 GB; a bare number is GiB. What the job needs is "
                                    "checked in any case."), placeholder=translate("Form", "what the job needs")),
            Field("minimum_throughput", translate("Form", "Throughput, at least"),
                  translate("Form", "Samples, tokens or steps a second, as the run counts."),
                  placeholder=translate("Form", "any")),
            Field("precision", translate("Form", "Precision"),
                  translate("Form", "Number format of the computation. Otherwise as in the run."), Kind.CHOICE,
                  choices=(("", translate("Form", "as in the run")), *((name, name) for name in PRECISIONS))),
            Field("precisions", translate("Form", "Others that are allowed"),
                  translate("Form", "Each is tried as well. Fewer bits are faster on most GPUs, but whether the result "
                                    "is still good enough is for you to check."), Kind.CHECKLIST,
                  choices=tuple((name, name) for name in PRECISIONS)),
            Field("compiled", translate("Form", "Compiled"),
                  translate("Form", "Whether the job will run compiled (torch.compile and the like)."), Kind.CHOICE,
                  choices=(("", translate("Form", "as in the run")), ("yes", translate("Form", "compiled")),
                           ("no", translate("Form", "not compiled")))),
        ),
    )  # fmt: skip


def machines_section() -> SectionFields:
    """How many, how connected."""
    return SectionFields(
        "machines",
        translate("Form", "Interconnect and machines"),
        (
            Field("counts", translate("Form", "Numbers of GPUs"),
                  translate("Form", "Which numbers of GPUs are allowed, such as 1, 2, 4-8."),
                  placeholder=translate("Form", "any, such as 1, 2, 4-8")),
            Field("max_nodes", translate("Form", "Machines, at most"),
                  translate("Form", "1 keeps the job in one machine, without a network between GPUs."),
                  placeholder=translate("Form", "any")),
            Field("interconnects", translate("Form", "GPUs connected by"),
                  translate("Form", "Links inside a machine that will do."), Kind.CHECKLIST,
                  choices=(("pcie", "PCIe"), ("nvlink", "NVLink"), ("nvswitch", "NVSwitch"))),
            Field("networks", translate("Form", "Machines connected by"),
                  translate("Form", "Links between machines that will do."), Kind.CHECKLIST,
                  choices=(("ethernet", "Ethernet"), ("roce", "RoCE"), ("infiniband", "InfiniBand"))),
        ),
    )  # fmt: skip


def budget_section() -> SectionFields:
    """How much money, and for rent or purchase."""
    any_ = translate("Form", "any")
    return SectionFields(
        "budget",
        translate("Form", "Budget"),
        (
            Field("acquisition", translate("Form", "&Get it by"),
                  translate("Form", "Renting by the hour, buying, or whichever is better."), Kind.CHOICE,
                  choices=(("", translate("Form", "rent or buy")), ("rent", translate("Form", "rent")),
                           ("buy", translate("Form", "buy")))),
            Field("budget", translate("Form", "&Budget in all, {0}"),
                  translate("Form", "In your currency. Renting: of the whole work. Buying: the purchase price."),
                  placeholder=any_),
            Field("budget_per_hour", translate("Form", "Budget an hour, {0}"),
                  translate("Form", "In your currency, of all GPUs together; for renting."), placeholder=any_),
        ),
        is_open=True,
    )  # fmt: skip


def limits_section() -> SectionFields:
    """Free constraints."""
    any_ = translate("Form", "any")
    catalogue = translate("Form", "Nothing ticked: any.")
    return SectionFields(
        "limits",
        translate("Form", "More limits"),
        (
            Field("gpus", translate("Form", "GPUs"), translate("Form", "Only these models.") + " " + catalogue,
                  Kind.CHECKLIST),
            Field("vendors", translate("Form", "Vendors"), translate("Form", "Makers of the GPU.") + " " + catalogue,
                  Kind.CHECKLIST),
            Field("providers", translate("Form", "Providers"),
                  translate("Form", "Who rents it out.") + " " + catalogue, Kind.CHECKLIST),
            Field("regions", translate("Form", "Regions"),
                  translate("Form", "Where it stands, by the provider's name for it.") + " " + catalogue,
                  Kind.CHECKLIST),
            Field("residency", translate("Form", "Data may be in"),
                  translate("Form", "Countries or parts of the world, separated by commas, such as DE, EU. Offers "
                                    "elsewhere, and those that do not say where, are out."),
                  placeholder=translate("Form", "anywhere")),
            Field("form_factors", translate("Form", "Form factors"),
                  translate("Form", "What fits into the machine.") + " " + catalogue, Kind.CHECKLIST),
            Field("power_limit", translate("Form", "Power of all GPUs, W"),
                  translate("Form", "What the room or the socket gives for all GPUs together, such as 1.4kW."),
                  placeholder=any_),
            Field("rack_power", translate("Form", "Power of a machine, W"),
                  translate("Form", "What the rack gives one machine, all in, such as 10kW."), placeholder=any_),
            Field("ecc", translate("Form", "Only memory with ECC"),
                  translate("Form", "Only GPUs whose memory corrects errors; wanted for long runs."), Kind.SWITCH),
            Field("datacenter_licence", translate("Form", "It stands in a data centre"),
                  translate("Form", "The licence of the GeForce driver forbids GeForce cards there: they are out."),
                  Kind.SWITCH),
        ),
    )  # fmt: skip
