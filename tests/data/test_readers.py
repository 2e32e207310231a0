"""Every format: a file written by hand, and what it must become."""

import gzip
import json
import logging
import zipfile

import numpy as np
import pandas as pd
import pytest

from pyrovice import DataError, OverwriteError, PyroviceError, PyroviceWarning, Triplets

THINGS = """\
image1\timage2\timage3\tchoice\tRT\tnoise_ceiling\tsubject_id\tHIT_nr\ttrial_nr\tage
4\t1\t3\t1\t1500\t0\tA7\t12\t1\t33
2\t4\t1\t3\t\t0\tB9\t12\t2\t
1\t2\t3\t2\t700.5\t1\tA7\t13\t1\t33
"""
# The odd ones by hand: 4, then 1, then 2; from 0 they are 3, 0, 1.
THINGS_EXPECTED = Triplets.from_array(
    [[0, 2, 3], [1, 3, 0], [0, 2, 1]], participants=["A7", "B9", "A7"]
)

SALMON = """\
head,left,right,winner,loser,puid,response_time
0,1,2,2,1,p1,1.25
3,0,1,0,1,p2,
"""
SALMON_EXPECTED = Triplets([[0, 1, 2], [0, 1, 3]], [1, 1], anchor=[0, 2], participants=["p1", "p2"])

SALMON_NAMED = """\
head,left,right,winner,loser,puid,response_time,head_object,left_object,right_object,winner_object,loser_object
0,1,2,2,1,p1,1.25,"ant, red",bee,cat,cat,bee
3,0,1,0,1,p2,0.5,dog,"ant, red",bee,"ant, red",bee
"""
SALMON_FORMER = """\
Participant.ID,Center,Left,Right,Answer,Alg.Label
p1,"ant, red",bee,cat,cat,random
p2,dog,"ant, red",bee,"ant, red",adaptive
"""
SALMON_NAMES_EXPECTED = Triplets(
    SALMON_EXPECTED.objects,
    SALMON_EXPECTED.odd,
    anchor=SALMON_EXPECTED.anchor,
    names=["ant, red", "bee", "cat", "dog"],
    participants=["p1", "p2"],
)

TRIPLET_TOOLS = """\
head,winner,loser,worker_id,rt,Center,Left,Right,Answer,sampleAlg,sampleSet
0,2,1,w1,900,ant,bee,cat,cat,random,train
0,0,2,w1,800,ant,ant,cat,ant,check,check
1,2,1,w2,500,bee,bee,cat,cat,check,check
3,0,1,w2,,dog,ant,bee,ant,validation,test
"""
TRIPLET_TOOLS_EXPECTED = Triplets(
    [[0, 1, 2], [0, 1, 3]],
    [1, 1],
    anchor=[0, 2],
    names=["ant", "bee", "cat", "dog"],
    participants=["w1", "w2"],
)

TRIADS = """\
NUM,item1,item2,item3,ANN,BOB
1,cat,ant,bee,1,3
2,dog,cat,ant,,2
"""
TRIADS_EXPECTED = Triplets.from_array(
    [[0, 1, 2], [2, 0, 1], [3, 0, 2]],
    names=["ant", "bee", "cat", "dog"],
    participants=["ANN", "BOB", "BOB"],
)

MATERIALS = json.dumps(
    {"answers": [[0, 1, 2], [3, 0, 1], [2, 1, 0]], "agreement": [[2, 1], [0, 1], [0, 0]]}
)
MATERIALS_EXPECTED = Triplets([[0, 1, 2]] * 3 + [[0, 1, 3]], [2, 2, 1, 0], anchor=[0, 0, 0, 2])

CLIPS = """\
clip1_id\tclip2_id\tclip3_id\tclip1_numvotes\tclip2_numvotes\tclip3_numvotes\tclip1_mp3_path
"2"\t"30"\t"100"\t"2"\t"0"\t"1"\t"a.mp3"
"30"\t"4"\t"2"\t"0"\t"1"\t"0"\t"b.mp3"
"""
CLIPS_EXPECTED = Triplets.from_array(
    [[2, 3, 0], [2, 3, 0], [0, 2, 3], [2, 0, 1]], names=["2", "4", "30", "100"]
)

TABLE = """\
object_1,object_2,object_3,odd,anchor,participant,reaction_time
cat,"ant, red",bee,bee,,ann,310
bee,cat,dog,dog,cat,bob,
"""
TABLE_EXPECTED = Triplets(
    [[0, 1, 2], [1, 2, 3]],
    [1, 2],
    anchor=[-1, 1],
    names=["ant, red", "bee", "cat", "dog"],
    participants=["ann", "bob"],
)

NAMES = "art114.jpg n344.jpg bea9.jpg\nbea9.jpg  cdm1.jpg\tart114.jpg\n"
NAMES_EXPECTED = Triplets.from_array(
    [[0, 3, 1], [1, 2, 0]], names=["art114.jpg", "bea9.jpg", "cdm1.jpg", "n344.jpg"]
)

PLAIN = Triplets.from_array([[3, 0, 1], [2, 1, 0]])
NEARER = Triplets([[0, 1, 3], [0, 1, 2]], [1, 0], anchor=[2, 2])

FILES = {
    "vice": ("3 0 1\n2 1 0\n", PLAIN),
    "vice with floats": ("3.0 0.0 1.0\n2.0 1.0 0.0\n", PLAIN),
    "vice with commas": ("3,0,1\n2,1,0\n", PLAIN),
    "things": (THINGS, THINGS_EXPECTED),
    "noiseceiling": (
        "3 1 0 2 17\n0 1 2 3 18\n",
        Triplets.from_array([[0, 3, 1], [0, 1, 2]]),
    ),
    "names": (NAMES, NAMES_EXPECTED),
    "names with commas": (
        '"ant, red",bee,cat\ncat,bee,"ant, red"\n',
        Triplets.from_array([[0, 1, 2], [2, 1, 0]], names=["ant, red", "bee", "cat"]),
    ),
    "salmon": (SALMON, SALMON_EXPECTED),
    "salmon with names": (SALMON_NAMED, SALMON_NAMES_EXPECTED),
    "salmon, former columns": (SALMON_FORMER, SALMON_NAMES_EXPECTED),
    "tripletTools": (TRIPLET_TOOLS, TRIPLET_TOOLS_EXPECTED),
    "triads": (TRIADS, TRIADS_EXPECTED),
    "votes, JSON": (MATERIALS, MATERIALS_EXPECTED),
    "votes, clips": (CLIPS, CLIPS_EXPECTED),
    "table": (TABLE, TABLE_EXPECTED),
    "cblearn": ("3 0 1 1\n2 1 0 -1\n", Triplets([[0, 1, 3], [0, 1, 2]], [1, 1], anchor=[2, 2])),
}


def put(path, text):
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(("name", "case"), FILES.items(), ids=FILES)
def test_every_format_is_recognised_and_read(tmp_path, name, case):
    text, expected = case
    path = put(tmp_path / "judgments.csv", text)
    t = Triplets.read(path)
    assert t == expected
    format = name.split()[0].rstrip(",")
    assert t.reading.format == format
    assert t.reading.path == str(path)
    assert t.reading.decided
    assert Triplets.read(path, format=format) == expected


@pytest.mark.parametrize(
    "mess",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text + "\n\n   \n",
        lambda text: text.rstrip("\n"),
        lambda text: "\n" + text,
        lambda text: text.replace("\n", "\r"),
    ],
    ids=["CRLF", "BOM", "blank lines at the end", "no last newline", "blank first line", "CR"],
)
@pytest.mark.parametrize(("text", "expected"), FILES.values(), ids=FILES)
def test_what_editors_do_to_files(tmp_path, mess, text, expected):
    assert Triplets.read(put(tmp_path / "judgments.csv", mess(text))) == expected


@pytest.mark.parametrize(("text", "expected"), FILES.values(), ids=FILES)
def test_packed_files(tmp_path, text, expected):
    with gzip.open(tmp_path / "judgments.csv.gz", "wb") as file:
        file.write(text.encode())
    with zipfile.ZipFile(tmp_path / "judgments.zip", "w") as archive:
        archive.mkdir("folder")
        archive.writestr("folder/judgments.csv", text)
        archive.writestr("__MACOSX/._judgments.csv", "\0")
    assert Triplets.read(tmp_path / "judgments.csv.gz") == expected
    assert Triplets.read(tmp_path / "judgments.zip") == expected
    assert (
        Triplets.read(put(tmp_path / "u.csv", "") if False else _utf16(tmp_path, text)) == expected
    )


def _utf16(folder, text):
    (folder / "utf16.csv").write_bytes(text.encode("utf-16"))
    return folder / "utf16.csv"


def test_packed_arrays(tmp_path):
    np.save(tmp_path / "t.npy", [[3, 0, 1], [2, 1, 0]])
    with gzip.open(tmp_path / "t.npy.gz", "wb") as file:
        file.write((tmp_path / "t.npy").read_bytes())
    assert Triplets.read(tmp_path / "t.npy.gz") == PLAIN


def test_archives_that_cannot_be_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.txt", "0 1 2\n")
        archive.writestr("b.txt", "0 1 2\n")
    with pytest.raises(DataError, match=r"holds 2 files \(a.txt, b.txt\); expected one"):
        Triplets.read(tmp_path / "two.zip")
    with gzip.open(tmp_path / "whole.gz", "wb") as file:
        file.write(b"0 1 2\n" * 1000)
    (tmp_path / "half.gz").write_bytes((tmp_path / "whole.gz").read_bytes()[:30])
    with pytest.raises(DataError, match="cannot be unpacked"):
        Triplets.read(tmp_path / "half.gz")
    with pytest.raises(DataError, match="cannot be unpacked"):
        Triplets.read(put(tmp_path / "no.zip", "PK but nothing else"))


# ---------------------------------------------------------------------- what each one knows


def test_things_keeps_screen_times_and_sets(tmp_path):
    t = Triplets.read(put(tmp_path / "t.csv", THINGS))
    assert t.reading.first_id == 1
    assert t.trials.position.tolist() == [1, 3, 2]
    assert t.trials[["place_1", "place_2", "place_3"]].to_numpy().tolist() == [
        [2, 3, 1],  # 4 1 3 was shown, so the objects 1, 3, 4 stood second, third and first
        [3, 1, 2],
        [1, 2, 3],
    ]
    np.testing.assert_array_equal(t.trials.reaction_time, [1500, np.nan, 700.5])
    assert t.trials.noise_ceiling.tolist() == [0, 0, 1]
    assert t.trials.set.tolist() == ["12", "12", "13"]


def test_trials_without_an_answer_are_left_out(tmp_path):
    t = Triplets.read(
        put(tmp_path / "t.csv", THINGS.replace("4\t1\t3\t1\t", "4\t1\t3\t\t")), n_objects=4
    )
    assert t == THINGS_EXPECTED[1:]
    assert [str(left) for left in t.reading.left_out] == ["1 without an answer (line 2)"]
    assert t.reading.rows == 3


def test_salmon_times_are_milliseconds_and_the_winner_is_the_answer(tmp_path):
    t = Triplets.read(put(tmp_path / "t.csv", SALMON))
    np.testing.assert_array_equal(t.trials.reaction_time, [1250, np.nan])
    assert t.trials.position.tolist() == [3, 2]
    assert "seconds" in t.reading.notes[0]


def test_catch_trials_are_left_out_and_kept_apart(tmp_path):
    t = Triplets.read(put(tmp_path / "t.csv", TRIPLET_TOOLS))
    assert str(t.reading.left_out[0]) == "2 catch trials (lines 3, 4)"
    assert t.reading.catch.participant.tolist() == ["w1", "w2"]
    assert t.reading.catch.passed.tolist() == [True, False]
    assert t.trials.sampleAlg.tolist() == ["random", "validation"]
    np.testing.assert_array_equal(t.trials.reaction_time, [900, np.nan])
    not_marked = TRIPLET_TOOLS.replace("ant,check,check", "ant,random,train")
    with pytest.raises(DataError, match=r"line 3: .* repeats an object"):
        Triplets.read(put(tmp_path / "u.csv", not_marked))


def test_triplet_tools_without_names(tmp_path):
    text = "head,winner,loser,sampleAlg\n0,2,1,random\n3,0,1,random\n3,3,1,check\n"
    t = Triplets.read(put(tmp_path / "t.csv", text))
    assert t.objects.tolist() == [[0, 1, 2], [0, 1, 3]]
    assert t.odd.tolist() == [1, 1]
    assert t.reading.catch.passed.tolist() == [True]


def test_unanswered_triads(tmp_path):
    t = Triplets.read(put(tmp_path / "t.csv", TRIADS))
    assert str(t.reading.left_out[0]) == "1 triads that somebody did not answer (line 3)"
    assert t.reading.rows == 2
    assert t.trials.position.tolist() == [1, 3, 2]


def test_rows_without_votes(tmp_path):
    t = Triplets.read(put(tmp_path / "t.json", MATERIALS))
    assert str(t.reading.left_out[0]) == "1 without votes (answer 2)"
    assert t.repeats().judgments.tolist() == [3]
    named = MATERIALS.replace("0, 1, 2], [3", '"a", "b", "c"], ["d"').replace(
        '"d", 0, 1], [2, 1, 0]', '"d", "a", "b"], ["c", "b", "a"]'
    )
    assert Triplets.read(put(tmp_path / "u.json", named)).names == ("a", "b", "c", "d")


def test_cblearn_arrays(tmp_path):
    rows = np.array([[3, 0, 1], [2, 1, 0]])
    np.save(tmp_path / "t.npy", rows)
    np.save(tmp_path / "answers.npy", [True, False])
    read = Triplets.read
    assert read(tmp_path / "t.npy", format="cblearn") == NEARER
    expected = Triplets([[0, 1, 3], [0, 1, 2]], [1, 1], anchor=[2, 2])
    for responses in (tmp_path / "answers.npy", [True, False], [1, -1]):
        assert read(tmp_path / "t.npy", format="cblearn", responses=responses) == expected
    odd_first = Triplets.from_array(rows, odd="first")
    assert read(tmp_path / "t.npy", format="cblearn", odd="first") == odd_first
    counted = read(tmp_path / "t.npy", format="cblearn", responses=[3, 0])
    assert counted == NEARER[[0, 0, 0]]
    assert str(counted.reading.left_out[0]) == "1 without a response (row 1)"
    np.save(tmp_path / "u.npy", np.column_stack([rows, [1, -1]]))
    assert read(tmp_path / "u.npy") == expected


def test_reading_says_what_it_decided(tmp_path, caplog):
    with caplog.at_level(logging.INFO, logger="pyrovice"):
        t = Triplets.read(put(tmp_path / "t.csv", TRIPLET_TOOLS))
    said = str(t.reading)
    assert "4 rows, read as 'tripletTools' (the columns head, winner, loser, sampleAlg)" in said
    assert "left out: 2 catch trials (lines 3, 4)" in said
    assert said in caplog.text
    assert "ids in the file begin at 1" in str(
        Triplets.read(put(tmp_path / "u.csv", THINGS)).reading
    )
    assert t[:1].reading is None


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "0 1 2 1\n1 2 3 3\n",
            "from line 1 on, can .* more than one way: 'vice' .* 'noiseceiling'",
        ),
        ("a,b\n1,2\n", "not in a known format; line 1 is 'a,b'"),
        ("image1,image2\n1,2\n", "not in a known format"),
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("image1,image2,image3,choice\n", "ends after line 1, which names its columns"),
        ('{"answers": [[0, 1, 2]]}', "expected an object with the lists 'answers'"),
        ('{"answers": [[0, 1, 2]], "agreement": []}', "expected an object with the lists"),
        ('{"answers": [[0, 1, 2]], "agreement": [[1, 0], [1, 0]]}', "expected one for each"),
        ('{\n"answers": [[0,, 1, 2]]', "line 2 is not JSON"),
        ("[" * 100_000, "not JSON"),
        ("0 1 2\n\0 1 2\n", r"ends in '\.csv'; expected"),
        ('cat,dog,"car\nbus,cat,dog\n', "line 1: its quotes do not match"),
        ("1 2 3 1 9\n2 3 4 2 9\n", "does not say whether ids begin at 0 or at 1; pass first_id=0"),
        (THINGS.replace("image2", "choice"), "not in a known format"),
        (THINGS.replace("RT", "choice"), "line 1 names the column 'choice' twice"),
        (
            "one two three\n0 1 2\n1 2 3\n",
            "not in a known format; line 1 is 'one",
        ),
        ("one two three\na b c\nb c d\nd a b\na c d\n", "header or a judgment"),
        ("0 1 2\n\n1 2 3\n2 3 x\n0 1 3\n", "line 4: '2 3 x' holds an id that is not a number"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, text, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        Triplets.read(put(tmp_path / "judgments.csv", text))
    assert "judgments.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "old", "new", "line", "sentence"),
    [
        (THINGS, "2\t4\t1\t3", "2\t4\t1\t4", 3, "choice outside 1 to 3"),
        (THINGS, "2\t4\t1\t3", "2\t4\t1\t0", 3, "choice outside 1 to 3"),
        (THINGS, "2\t4\t1\t3", "2\t4\t4\t3", 3, "repeats an object"),
        (THINGS, "2\t4\t1\t3", "2\t4\t0\t3", 3, "id below 1, where ids begin"),
        (THINGS, "2\t4\t1\t3", "2\t4.5\t1\t3", 3, "an image that is not whole"),
        (THINGS, "2\t4\t1\t3", "2\tcat\t1\t3", 3, "an image that is not a number"),
        (THINGS, "2\t4\t1\t3", "2\t\t1\t3", 3, "lacks an image"),
        (THINGS, "2\t4\t1\t3", "24\t1\t3", 3, "has 9 columns, but the header has 10"),
        (THINGS, "2\t4\t1\t3", "2\t\t4\t1\t3", 3, "has 11 columns, but the header has 10"),
        (THINGS, "2\t4\t1\t3", "2\t99999999999999999999\t1\t3", 3, "an image that is not a number"),
        (THINGS, "2\t4\t1\t3", "2\t4444444\t1\t3", 3, "an id beyond 1,000,000"),
        (THINGS, "2\t4\t1\t3", "2\tTrue\t1\t3", 3, "not a number"),
        (THINGS, "\t1500\t", "\tfast\t", 2, "a reaction time that is not a number"),
        (SALMON, "3,0,1,0,1", "3,0,1,2,1", 3, "a winner that is neither left nor right"),
        (SALMON, "3,0,1,0,1", "3,0,1,0,3", 3, "a loser that is not the other option"),
        (SALMON, "3,0,1,0,1", "-3,0,1,0,1", 3, "negative id"),
        (SALMON_FORMER, "cat,random", "cta,random", 2, "neither left nor right"),
        (TRIADS, ",1,3\n", ",1,4\n", 2, "an answer outside 1 to 3"),
        (TRIADS, ",1,3\n", ",1,x\n", 2, "an answer that is not a number"),
        (TRIADS, ",,2\n", ",,2,1\n", 3, "has 7 columns, but the header has 6"),
        (TABLE, "bee,bee,,ann", "bee,cow,,ann", 2, "an odd object that it does not show"),
        (TABLE, "dog,dog,cat", "dog,dog,cow", 3, "an anchor that it does not show"),
        (TABLE, "dog,dog,cat", "dog,dog,dog", 3, "has its anchor as the odd one"),
        (CLIPS, '"0"\t"1"\t"a', '"-1"\t"1"\t"a', 2, "negative number of votes"),
        (CLIPS, '"0"\t"1"\t"a', '"99999"\t"1"\t"a', 2, "more than 10,000 votes"),
        (NAMES, "bea9.jpg  cdm1.jpg", "art114.jpg cdm1.jpg", 2, "repeats an object"),
        (NAMES, "bea9.jpg  cdm1.jpg", "cdm1.jpg", 2, "has 2 columns, but the first line has 3"),
    ],
)
def test_bad_rows_are_named_by_line_or_left_out(tmp_path, text, old, new, line, sentence):
    assert text.count(old) == 1
    path = put(tmp_path / "judgments.csv", text.replace(old, new))
    with pytest.raises(DataError, match=rf"judgments.csv, line {line}: .*{sentence}"):
        Triplets.read(path)
    with pytest.warns(PyroviceWarning, match="are not judgments and were left out"):
        rest = Triplets.read(path, bad_rows="leave out")
    assert len(rest) < len(Triplets.read(put(tmp_path / "good.csv", text)))
    reasons = {left.reason: left.lines for left in rest.reading.left_out}
    assert any(set(lines) == {line} for lines in reasons.values())


def test_all_bad_rows_are_named_at_once(tmp_path):
    text = "0 1 2\n" * 3 + "4 4 2\n" * 9 + "0 1\n" + "0 x 1\n"
    with pytest.raises(DataError) as caught:
        Triplets.read(put(tmp_path / "t.txt", text))
    said = str(caught.value)
    assert "line 4: '4 4 2' repeats an object" in said
    assert "(9 such rows: also lines 5, 6, 7, ...)" in said
    assert "line 13: '0 1' has 2 columns" in said
    assert "line 14: '0 x 1' holds an id that is not a number" in said
    assert "bad_rows='leave out'" in said


def test_nothing_is_left(tmp_path):
    with pytest.raises(DataError, match="holds no judgments: 2 repeats an object"):
        Triplets.read(put(tmp_path / "t.txt", "1 1 2\n2 2 1\n"), bad_rows="leave out")


def test_where_ids_begin(tmp_path):
    noise = put(tmp_path / "n.csv", "1 2 3 1 9\n2 3 4 2 9\n")
    zero = Triplets.read(noise, first_id=0)
    one = Triplets.read(noise, first_id=1)
    assert (zero.n_objects, one.n_objects) == (5, 4)
    np.testing.assert_array_equal(zero.objects, one.objects + 1)
    # Four names for ids up to 4 prove it.
    assert Triplets.read(noise, names=list("abcd")).reading.first_id == 1
    with pytest.raises(DataError, match="first_id=0 or first_id=1"):
        Triplets.read(noise, names=list("abcde"))
    vice = put(tmp_path / "v.txt", "1 2 3\n2 3 4\n")
    assert Triplets.read(vice, first_id=1) == Triplets.from_array([[0, 1, 2], [1, 2, 3]])
    with pytest.raises(
        DataError, match=r"beyond the 4 names \(the ids look 1-based: pass first_id"
    ):
        Triplets.read(vice, names=list("abcd"))
    with pytest.raises(DataError, match="first_id=2; expected 0 or 1"):
        Triplets.read(vice, first_id=2)


def test_ids_with_gaps_are_said(tmp_path):
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation([0, 1, 2, 5, 9])[:3] for _ in range(40)])
    np.save(tmp_path / "t.npy", rows)
    with pytest.warns(
        PyroviceWarning, match=r"5 of the 10 ids up to 9 never occur \(3, 4, 6, 7, 8\)"
    ):
        t = Triplets.read(tmp_path / "t.npy")
    assert t.n_objects == 10
    assert t.compact().names == ("0", "1", "2", "5", "9")
    assert t.compact().to_dataframe().equals(t.to_dataframe())
    assert Triplets.read(tmp_path / "t.npy", n_objects=10) == t


def test_misspelt_names_are_said(tmp_path):
    rng = np.random.default_rng(0)
    names = ["aardvark", "buffalo", "cat", "dolphin", "elephant"]
    rows = [" ".join(rng.permutation(names)[:3]) for _ in range(100)]
    rows[7] = rows[7].replace(rows[7].split()[2], "dolfin")
    with pytest.warns(
        PyroviceWarning, match=r"'dolfin' \(once, like 'dolphin'\). Are they misspelt"
    ):
        Triplets.read(put(tmp_path / "t.txt", "\n".join(rows)))
    with pytest.raises(DataError, match=r"line 8: .* not among the 5 names"):
        Triplets.read(put(tmp_path / "u.txt", "\n".join(rows)), names=names)


def test_names_file_with_a_header(tmp_path):
    path = put(tmp_path / "t.txt", "one two three\na b c\nb c d\nd a b\na c d\n")
    t = Triplets.read(path, has_header=True)
    assert t.names == ("a", "b", "c", "d")
    assert Triplets.read(path, has_header=False).n_objects == 7


def test_unknown_options(tmp_path):
    path = put(tmp_path / "t.txt", "0 1 2\n")
    with pytest.raises(
        TypeError, match="format 'vice' takes no option 'nmaes'; it takes names, n_ob"
    ):
        Triplets.read(path, nmaes="x")
    with pytest.raises(DataError, match="bad_rows='drop'; expected 'refuse' or 'leave out'"):
        Triplets.read(path, bad_rows="drop")
    with pytest.raises(DataError, match="id beyond the 3 names"):
        Triplets.read(put(tmp_path / "u.txt", "0 1 3\n"), n_objects=3)
    with pytest.raises(PyroviceError, match="n_objects='5'; expected a whole number"):
        Triplets.read(path, n_objects="5")
    with pytest.raises(TypeError, match="names is a int; expected a name per object"):
        Triplets.read(path, names=5)


def test_latin_letters_outside_utf8(tmp_path):
    (tmp_path / "t.txt").write_bytes("a b c\nb c café\n".encode("latin-1"))
    with pytest.warns(PyroviceWarning, match="read as Windows-1252"):
        assert "café" in Triplets.read(tmp_path / "t.txt").names


def test_row_numbers_of_r_are_not_read(tmp_path):
    text = '"","object_1","object_2","object_3","odd"\n"1","a","b","c","c"\n'
    assert Triplets.read(put(tmp_path / "t.csv", text)).trials is None


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_tables_are_written_and_read_back(tmp_path, suffix):
    trials = pd.DataFrame({"reaction_time": [310.5, np.nan], "set": ["a", "b, c"]})
    t = Triplets(
        TABLE_EXPECTED.objects,
        TABLE_EXPECTED.odd,
        names=[*TABLE_EXPECTED.names, "never judged"],
        anchor=TABLE_EXPECTED.anchor,
        participants=["ann", 'bob "the judge"'],
        trials=trials,
    )
    t.write(tmp_path / f"t{suffix}")
    again = Triplets.read(tmp_path / f"t{suffix}", names=t.names)
    assert again == t
    assert again.trials.reaction_time.equals(trials.reaction_time)
    assert again.trials.set.tolist() == ["a", "b, c"]


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".txt"])
def test_embeddings_for_other_programs(tmp_path, small_fit, suffix):
    path = tmp_path / f"embedding{suffix}"
    small_fit.write_embedding(path)
    expected = small_fit.embedding()
    if suffix == ".txt":
        values = np.loadtxt(path)
    else:
        table = pd.read_csv(
            path, sep="\t" if suffix == ".tsv" else ",", index_col="object", dtype={"object": str}
        )
        assert table.columns.tolist() == [f"dim_{i + 1}" for i in range(small_fit.n_dimensions)]
        assert table.index.tolist() == list(small_fit.names)
        values = table.to_numpy()
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    with pytest.raises(OverwriteError):
        small_fit.write_embedding(path, "sd")
    with pytest.raises(DataError, match=r"expected \.tsv or \.csv"):
        small_fit.write_embedding(tmp_path / "embedding.npy")
