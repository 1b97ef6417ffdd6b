"""The guided form's fields about what money costs: assumptions of ownership, spot, currency, quotes."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from gpuscope.ui.advisor.form.fields import Field, Kind, SectionFields

translate = QCoreApplication.translate


def money_section() -> SectionFields:
    """What owning and renting cost besides the price."""
    assumed = translate("Form", "as assumed")
    return SectionFields(
        "money",
        translate("Form", "Money over the years"),
        (
            Field("hours_per_month", translate("Form", "In use, hours a month"),
                  translate("Form", "Hours in which it is needed; 730 is all the time. Empty: as many as the work "
                                    "takes, or all."), placeholder=translate("Form", "as the work takes")),
            Field("years", translate("Form", "Over how many years"),
                  translate("Form", "Owning and renting are compared over each of these spans."),
                  placeholder="1, 3, 5"),
            Field("electricity", translate("Form", "Electricity, {0} a kWh"),
                  translate("Form", "Your tariff in your currency, such as 0.15."), placeholder=assumed),
            Field("power_usage_effectiveness", translate("Form", "PUE"),
                  translate("Form", "Power of the whole site over that of its machines: 1.1 in a large data centre, "
                                    "1.6 in a server room."), placeholder=assumed),
            Field("hosting", translate("Form", "Hosting, {0} a kW and month"),
                  translate("Form", "Rent of the place in a rack, in your currency for each kilowatt and month."),
                  placeholder=assumed),
            Field("support", translate("Form", "Support, % a year"),
                  translate("Form", "Of the purchase price, each year."), placeholder=assumed),
            Field("staff", translate("Form", "Staff, {0} a year"),
                  translate("Form", "What the people who look after it cost a year, in your currency."),
                  placeholder=assumed),
            Field("finance", translate("Form", "Interest, % a year"),
                  translate("Form", "Cost of the money that is bound in the purchase."), placeholder=assumed),
            Field("residual", translate("Form", "Residual value, %"),
                  translate("Form", "What it still sells for after the longest span, of the purchase price."),
                  placeholder=assumed),
            Field("machine", translate("Form", "Machine around it, %"),
                  translate("Form", "Price of the machine around bare GPUs, of the price of the GPUs."),
                  placeholder=assumed),
            Field("reserved_discount", translate("Form", "Reserved, % off"),
                  translate("Form", "Off the on-demand price when you commit to the whole span. Empty: not known, so "
                                    "not offered."), placeholder=translate("Form", "not offered")),
            Field("tax", translate("Form", "Tax, %"), translate("Form", "Added to every price."), placeholder="0"),
            Field("currency", translate("Form", "Currency"),
                  translate("Form", "Code of the currency that all amounts are in, such as EUR or JPY; each quote has "
                                    "its own."),
                  placeholder="USD"),
            Field("currency_per_usd", translate("Form", "Of it for one $"),
                  translate("Form", "Today's rate: how much of that currency is one US dollar."),
                  placeholder=translate("Form", "with another currency")),
        ),
    )  # fmt: skip


def spot_section() -> SectionFields:
    """Spot instances and what their interruptions cost."""
    assumed = translate("Form", "as assumed")
    return SectionFields(
        "spot",
        translate("Form", "Spot prices"),
        (
            Field("use_spot", translate("Form", "Spot may be used"),
                  translate("Form", "Spot instances are cheaper, but may be taken away at any time; what that loses is "
                                    "counted in."), Kind.SWITCH),
            Field("spot_interruptions", translate("Form", "Interruptions a day"),
                  translate("Form", "How often an instance is taken away."), placeholder=assumed),
            Field("spot_restart", translate("Form", "Until it runs again"),
                  translate("Form", "From an interruption until the job computes again, such as 10min."),
                  placeholder=assumed),
            Field("checkpoint_interval", translate("Form", "Checkpoint every"),
                  translate("Form", "Half of this is lost at each interruption, such as 30min."),
                  placeholder=assumed),
        ),
    )  # fmt: skip


def quotes_section() -> SectionFields:
    """Prices that the person was offered."""
    return SectionFields(
        "quotes",
        translate("Form", "Own quotes"),
        (
            Field("quotes", translate("Form", "Quotes go before the catalogue's prices"),
                  translate("Form", "Prices that you were offered. Type them in, or import a CSV file or a catalogue "
                                    "file of SkyPilot."), Kind.QUOTES, wide=True),
        ),
    )  # fmt: skip
