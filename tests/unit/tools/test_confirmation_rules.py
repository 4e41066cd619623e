"""Which calls are asked about: rules, defaults, and what the user asked for in so many words."""

from __future__ import annotations

import random

import pytest

from domain.llm.tools.confirmation import (
    Circumstances,
    Permissions,
    Rule,
    is_asked_for,
    judge,
    rule_from_plain,
    rule_to_plain,
    rules_for_always,
)
from domain.llm.tools.confirmation_card import (
    CallOnCard,
    ConfirmationCard,
    card_from_plain,
    card_to_plain,
    same_answer,
)
from domain.llm.tools.effect import ComputedEffect, PathEffect
from domain.llm.tools.result import EffectClass
from tests.ground.cases import for_each


def on(path: str, effect: EffectClass = "change", **more: object) -> ComputedEffect:
    values = {"bytes_before": 10, "bytes_after": 10, "version": "v1", **more}
    return ComputedEffect(effect=effect, paths=(PathEffect(path=path, **values),), files=1)  # type: ignore[arg-type]


def deleted(path: str = "a.cir") -> ComputedEffect:
    return on(path, "delete", bytes_after=None)


def made(path: str) -> ComputedEffect:
    return on(path, "create", bytes_before=None, version="")


READ = ComputedEffect(effect="read", paths=(PathEffect(path="a.cir"),))
SIMULATE = ComputedEffect(effect="simulate", paths=(PathEffect(path="a.cir"),))
UNREAD = on("a.cir", overwrites=True)
REREAD = on("a.cir", overwrites=True, was_read=True)
BATCH = ComputedEffect(
    effect="change",
    paths=tuple(PathEffect(path=f"{n}.cir", moved_to=f"x/{n}.cir") for n in range(11)),
    files=11,
)


@for_each(
    ("effect", "reasons"),
    [
        (READ, ()),
        (SIMULATE, ()),
        (made("new.cir"), ()),
        (made("new.lib"), ()),
        (on("a.cir"), ()),
        (REREAD, ()),
        (UNREAD, ("overwrite",)),
        (deleted(), ("delete",)),
        (on("models.lib"), ("critical",)),
        (on("deep/MODELS.Mod"), ("critical",)),
        (on("a.cir", moved_to="b.cir"), ()),
        (on("a.cir", moved_to="b.txt"), ("suffix",)),
        (BATCH, ("batch",)),
        (ComputedEffect(effect="outside"), ("outside",)),
        (ComputedEffect(effect="change", is_high_risk=True), ("high_risk",)),
    ],
)
def test_defaults(effect: ComputedEffect, reasons: tuple[str, ...]) -> None:
    verdict = judge("tool", effect, Permissions())
    assert verdict.reasons == reasons
    assert verdict.decision == ("ask" if reasons else "allow")


DENY = Rule(decision="deny", path="keys/**")
ALLOW = Rule(decision="allow")
ASK = Rule(decision="ask", tool="patch_*")


@for_each(
    ("rules", "protected", "tool", "effect", "decision", "reasons"),
    [
        ((ALLOW,), (), "delete_file", deleted(), "allow", ()),
        ((ALLOW, DENY), (), "delete_file", deleted("keys/a.txt"), "deny", ("rule",)),
        ((DENY, ALLOW), (), "delete_file", deleted("KEYS/deep/a.txt"), "deny", ("rule",)),
        ((DENY,), (), "read_file", on("keys/a.txt", "read"), "deny", ("rule",)),
        ((DENY,), (), "move_file", on("a.txt", moved_to="keys/a.txt"), "deny", ("rule",)),
        ((DENY,), (), "patch_file", on("keys.txt"), "allow", ()),
        ((ALLOW, ASK), (), "patch_file", on("a.cir"), "ask", ("rule",)),
        ((ALLOW,), ("a.cir",), "patch_file", on("a.cir"), "ask", ("protected",)),
        ((), ("lib",), "patch_file", on("lib/x.txt"), "ask", ("protected",)),
        ((), ("lib",), "patch_file", on("library/x.txt"), "allow", ()),
        ((), ("a.cir",), "read_file", on("a.cir", "read"), "allow", ()),
        ((), ("a.cir",), "move_file", on("b.cir", moved_to="a.cir"), "ask", ("protected",)),
        ((Rule(decision="allow", path="*.tmp"),), (), "delete_file", deleted("a.tmp"), "allow", ()),
        ((Rule(decision="allow", path="*.tmp"),), (), "delete_file", deleted("x/a.tmp"), "ask", ("delete",)),
        ((Rule(decision="allow", path="**/*.tmp"),), (), "delete_file", deleted("x/a.tmp"), "allow", ()),
        ((Rule(decision="allow", effect="change"),), (), "delete_file", deleted(), "ask", ("delete",)),
        ((Rule(decision="allow", path="[ab].cir"),), (), "delete_file", deleted("a.cir"), "ask", ("delete",)),
        ((Rule(decision="deny", effect="delete"),), (), "delete_file", deleted(), "deny", ("rule",)),
    ],
)
def test_rules(
    rules: tuple[Rule, ...],
    protected: tuple[str, ...],
    tool: str,
    effect: ComputedEffect,
    decision: str,
    reasons: tuple[str, ...],
) -> None:
    verdict = judge(tool, effect, Permissions(rules=rules, protected=protected))
    assert (verdict.decision, verdict.reasons) == (decision, reasons)


def test_deny_wins_in_every_order_and_company() -> None:
    rng = random.Random(6)
    others = [
        ALLOW,
        ASK,
        Rule(decision="allow", path="keys/*"),
        Rule(decision="ask"),
        Rule(decision="allow", tool="d*"),
    ]
    for _ in range(200):
        rules = rng.sample(others, rng.randint(0, len(others)))
        rules.insert(rng.randint(0, len(rules)), DENY)
        known = Circumstances(said="Delete keys/a.txt.", is_by_hand=rng.random() < 0.5)
        permissions = Permissions(rules=tuple(rules), protected=tuple(rng.choices(["keys", "b"], k=1)))
        assert judge("delete_file", deleted("keys/a.txt"), permissions, known).decision == "deny"


def test_allowing_by_path_needs_every_path() -> None:
    rule = Rule(decision="allow", path="tmp/**")
    both = ComputedEffect(effect="delete", paths=(PathEffect(path="tmp/a"), PathEffect(path="b")), files=2)
    assert judge("t", both, Permissions(rules=(rule,))).decision == "ask"
    unnamed = ComputedEffect(effect="delete", paths=(PathEffect(path="tmp/a"),), files=2)
    assert judge("t", unnamed, Permissions(rules=(rule,))).decision == "ask"


def test_files_of_the_turn_count_together_and_own_libraries_are_not_critical() -> None:
    assert judge("t", on("a.cir"), Permissions(), Circumstances(files_before=9)).decision == "allow"
    assert judge("t", on("a.cir"), Permissions(), Circumstances(files_before=10)).reasons == ("batch",)
    own = Circumstances(made_here=frozenset({"m.lib"}))
    assert judge("t", on("m.lib"), Permissions(), own).decision == "allow"


def test_by_hand_only_what_could_hurt_unseen_is_asked() -> None:
    by_hand = Circumstances(is_by_hand=True)
    assert judge("rewrite_file", UNREAD, Permissions(), by_hand).decision == "allow"
    assert judge("patch_file", on("m.lib"), Permissions(), by_hand).decision == "allow"
    assert judge("delete_file", deleted(), Permissions(), by_hand).reasons == ("delete",)
    protected = Permissions(protected=("a.cir",))
    assert judge("patch_file", on("a.cir"), protected, by_hand).reasons == ("protected",)


@for_each(
    ("said", "path", "is_wanted"),
    [
        ("Delete old.cir", "old.cir", True),
        ("Please delete old.cir.", "old.cir", True),
        ("Simulate it. Then remove old.cir, thanks!", "old.cir", True),
        ("请删除 old.cir。", "old.cir", True),
        ("把old.cir删掉", "old.cir", True),
        ("删除 old.cir 和 b/c.txt", "b/c.txt", True),
        ("Delete old.cir", "Old.CIR", True),
        ("Don't delete old.cir", "old.cir", False),
        ("Do not touch x; never delete old.cir", "old.cir", False),
        ("不要删除 old.cir", "old.cir", False),
        ("Should I delete old.cir?", "old.cir", False),
        ("要删除 old.cir 吗", "old.cir", False),
        ("Delete everything except old.cir", "old.cir", False),
        ("Delete old.cir if it is not used", "old.cir", False),
        ("Delete a.cir. Look at old.cir.", "old.cir", False),
        ("old.cir was deleted by mistake", "old.cir", False),
        ("Delete sub/old.cir", "old.cir", False),
        ("Delete old.cir", "sub/old.cir", False),
        ("Delete old.cir.bak", "old.cir", False),
        ("Delete very-old.cir", "old.cir", False),
        ("Delete *old.cir", "old.cir", False),
        ("Explain this:\n```\ndelete old.cir\n```", "old.cir", False),
        ("> delete old.cir\nWhat does he mean?", "old.cir", False),
        ("Clean up the project", "old.cir", False),
        ("Please delete the file `old.cir`, then list the files.", "old.cir", True),
        ("Delete a.cir, b/c.txt and old.cir", "old.cir", True),
        ("Read a.cir and delete old.cir", "old.cir", True),
        ("Delete ./old.cir", "old.cir", True),
        ("请帮我把 a.cir 和 old.cir 这两个文件都删除掉，谢谢", "old.cir", True),
        ("删除文件 old.cir，然后列出文件", "old.cir", True),
        ("删除滤波器.cir", "滤波器.cir", True),
        ("删除新滤波器.cir", "滤波器.cir", False),
        ("Remove R1 from old.cir.", "old.cir", False),
        ("Delete the resistor in old.cir", "old.cir", False),
        ("Delete line 3 of old.cir.", "old.cir", False),
        ("Delete all files other than old.cir", "old.cir", False),
        ("Delete a.cir and simulate old.cir", "old.cir", False),
        ("Delete old.cir's comments", "old.cir", False),
        ("Delete old.cir comments", "old.cir", False),
        ("Delete old.cir and a.cir comments", "old.cir", False),
        ("The log says: delete old.cir", "old.cir", False),
        ("Translate: delete old.cir", "old.cir", False),
        ("翻译：删除 old.cir", "old.cir", False),
        ("我同事说：“删除 old.cir”", "old.cir", False),
        ("删除 old.cir 中的 R1", "old.cir", False),
        ("把 old.cir 里的 R1 删除", "old.cir", False),
        ("移除old.cir里的注释", "old.cir", False),
        ("删除 a.cir，再仿真 old.cir", "old.cir", False),
        ("", "old.cir", False),
    ],
)
def test_only_what_is_asked_for_in_so_many_words(said: str, path: str, is_wanted: bool) -> None:
    assert is_asked_for(said, "delete", deleted(path)) is is_wanted
    expected = "allow" if is_wanted else "ask"
    assert judge("delete_file", deleted(path), Permissions(), Circumstances(said=said)).decision == expected


@for_each(
    ("said", "reason", "is_wanted"),
    [
        ("Overwrite b.lib with the new models.", "overwrite", True),
        ("Replace the contents of b.lib by a.lib", "overwrite", True),
        ("覆盖 b.lib", "overwrite", True),
        ("把 b.lib 的内容替换成下面的模型", "overwrite", True),
        ("用 a.lib 覆盖 b.lib", "overwrite", True),
        ("Replace R1 in b.lib", "overwrite", False),
        ("Replace a.lib by b.lib", "overwrite", False),
        ("替换 b.lib 中的 Q1", "overwrite", False),
        ("用 b.lib 替换 a.lib", "overwrite", False),
        ("Change BF of Q1 in b.lib to 200", "critical", True),
        ("In b.lib, change BF to 200", "critical", True),
        ("Fix b.lib", "critical", True),
        ("修改 b.lib 中的 BF", "critical", True),
        ("把 b.lib 里的 BF 修改为 200", "critical", True),
        ("Fix a.cir using b.lib", "critical", False),
        ("Fix a.cir with the model of b.lib", "critical", False),
        ("修改 a.cir，模型在 b.lib", "critical", False),
    ],
)
def test_file_is_the_object_of_the_wish(said: str, reason: str, is_wanted: bool) -> None:
    assert is_asked_for(said, reason, on("b.lib")) is is_wanted


def test_change_of_a_files_kind_is_asked_for_with_both_names() -> None:
    moved = on("a.cir", moved_to="old/a.txt")
    for said in ("Rename a.cir to old/a.txt", "把 a.cir 重命名为 old/a.txt", "移动 a.cir 到 old/a.txt"):
        assert is_asked_for(said, "suffix", moved)
    for said in ("Rename a.cir", "Rename old/a.txt to b.txt, like a.cir", "Rename R1 in a.cir to old/a.txt"):
        assert not is_asked_for(said, "suffix", moved)


def test_wish_is_of_one_kind_and_never_of_a_protected_file() -> None:
    known = Circumstances(said="Delete a.cir.")
    assert judge("rewrite_file", UNREAD, Permissions(), known).reasons == ("overwrite",)
    protected = Permissions(protected=("a.cir",))
    assert judge("delete_file", deleted(), protected, known).reasons == ("protected",)
    folder = ComputedEffect(
        effect="delete",
        paths=(PathEffect(path="old", is_folder=True), PathEffect(path="old/a.cir", bytes_before=1)),
        files=1,
    )
    assert judge("delete_file", folder, Permissions(), Circumstances(said="Delete old")).decision == "allow"


def test_always_is_no_wider_than_what_was_asked() -> None:
    (rule,) = rules_for_always("rewrite_file", on("a*.cir", overwrites=True), ("overwrite",))
    permissions = Permissions(rules=(rule,))
    assert judge("rewrite_file", on("a*.cir", overwrites=True), permissions).decision == "allow"
    assert judge("rewrite_file", on("ab.cir", overwrites=True), permissions).decision == "ask"
    assert judge("patch_file", on("a*.cir", overwrites=True), permissions).decision == "ask"
    assert rules_for_always("delete_file", deleted(), ("protected", "delete")) == ()
    (rule,) = rules_for_always("delete_file", deleted(), ("delete",))
    assert judge("delete_file", deleted("other.cir"), Permissions(rules=(rule,))).decision == "allow"


def test_permission_covers_just_what_was_shown() -> None:
    asked = deleted()
    assert asked.is_same_as(asked)
    grown = on("a.cir", "delete", bytes_after=None, version="v2", bytes_before=999)
    assert not grown.is_same_as(asked)
    assert grown.is_same_as(asked, {("a.cir", "v2")})  # written by the turn itself
    assert not deleted("b.cir").is_same_as(asked)
    assert not on("a.cir").is_same_as(asked)


def test_plain_forms_come_back_and_damaged_ones_are_refused() -> None:
    rule = Rule(decision="deny", tool="x*", path="a/**", effect="delete")
    assert rule_from_plain(rule_to_plain(rule)) == rule
    for damaged in (
        {},
        {"decision": "maybe"},
        {"decision": "deny", "path": 3},
        {"decision": "deny", "tool": ""},
    ):
        with pytest.raises((KeyError, TypeError, ValueError)):
            rule_from_plain(damaged)
    call = CallOnCard(call_id="1", tool="t", effect=BATCH, reasons=("batch",), always=(rule,))
    card = ConfirmationCard(card_id="c", calls=(call,))
    assert card_from_plain(card_to_plain(card)) == card
    bare = ConfirmationCard(card_id="c", calls=(CallOnCard(call_id="1", tool="t", effect=BATCH, reasons=()),))
    assert same_answer(bare, "always")["1"].word == "allow"
