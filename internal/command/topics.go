package command

import "github.com/spf13/cobra"

// newTopics makes the help topics: commands that do nothing but have a text.
func newTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "memory", Short: "How --mem-budget is split and kept", Long: `
With train --mem-budget SIZE the process keeps within SIZE: 512MiB, 512M (the same), 2GB (powers of
10). Before anything is learned, and again whenever the stream brings a larger index, a wider
example or more non-zeros, the learner says what it will hold, and the run ends with an error, exit
code 1, if that has no room (2 if no data could make it fit). The split is shown on stderr:

  the program    28 MiB: 20 to 24 MiB of its text, which count as resident memory, and its runtime
                 (linux/amd64)
  reading        a quarter of the first 64 MiB that are left, an eighth of the rest, at least 4 MiB;
                 a line, or rows that wait for a second label, have a part of it. --max-line asks
                 for 32 times its size. --test after a stream reads once more: both count
  the examples   that are in memory (--epochs, --shuffle, --until-converged, --normalize max); while
                 they are put together they are there twice. Files are measured before they are
                 read, so stdin can't be taken. Dense ones of whole numbers from 0 to 255, 32
                 features or more, are kept as bytes, in about a quarter (f64: an eighth) of
                 the memory, where they need not be there as a whole
  the scales     of --scale, and of columns whose means stand for missing values: 48 bytes a feature
  the learner    weights, tables, members, what Fit works with: all of it, a wrapper's base too.
                 Tables that grow are there twice while they move, weights are copied once to be
                 looked at, and with -m the state is. Features that come later grow a table by a
                 quarter
  kept examples  of budget, tbp, sogp and, with a kernel, obpm: as many as fit, unless --budget,
                 --error-size, --basis or -i say how many. Their features have room for rows half as
                 long again as the first 4096 examples are; one that has none ends the run before it
                 is learned. What -m has from the last checkpoint stays. Those of romma and pumma
                 with a kernel take --budget
  kernel rows    of svm, kmp and, with --until-converged, kernels of pumma and romma: a cache of
                 what is left, two thirds of which are rows in use

The peak was below SIZE in all that was measured; a collector that comes late may let it pass by up
to 4 MiB. Learning is the same to the bit with any SIZE that fits, but for the numbers of kept
examples that are set by it.

Without --mem-budget a learner may take three quarters of the memory there is (of the machine, the
control group or ulimit -v), and what will take more than 256 MiB says so first.`},
		{Use: "serving", Short: "Rows of requests to serve, ids, logs, bounds and answers",
			Long: servingHelp},
		{Use: "formats", Short: "Formats of examples, labels, bias and normalising", Long: `
Examples

  svmlight  A line an example: LABEL INDEX:VALUE INDEX:VALUE ..., blanks between; # begins a comment
            at the line's begin or behind a blank. Indices ascend, each once. They start at 1, or at
            0 if --index-base 0 says so or an index 0 is found (of a stream: in its first MiB; where
            that takes longer, in what comes before it pauses, or in a moment, 80 ms). A line
            without features is an example of zeros. Labels are numbers, or words if the first one
            is a word: one that begins with a letter and has no colon, comma or #. An empty file is
            bad data.
  csv       Numbers and one column of labels: --label-col (a name of the header line, or a number
            from 1, from the end if negative), or else one named label, class, target or y, or else
            the last. Commas, semicolons, tabs or blanks between. The first row is compared with the
            others: it is a header, or a row, or, where nothing tells, refused, and --header yes or
            no says it. Lines before it that begin with # are comments, unless they look like the
            rows below; later ones are rows. A first column without a name whose values are all
            different is an index, and is left out. Further files, those of --test,
            and those that meet a model (predict, train -i) have the columns of the first or the
            model's, in any order: they are matched by name, and a name that is missing or new is
            bad data. Where one side has no header they are matched by place. What is predicted may
            lack the label's column. A column that holds more texts than numbers in the first
            thousand rows (--text-col and --number-col choose) has a feature for each text,
            COLUMN=TEXT, of value 1; their names are kept in the model, up to a million, or hashed
            by --hash-bits N. Texts that training never had are counted, and no more. --ignore-col
            leaves a column out. Nothing, ?, NA, N/A, NaN, null, \N and . are missing values: of
            texts a text like others, COLUMN=?; of numbers a bad row. Numbers with a decimal comma,
            thousands apart, a currency or a percent sign are texts, which a warning says. --missing
            mean takes the column's mean
            so far, and of texts none; --missing indicator that mean and a feature COLUMN=?;
            --missing error stops at any. --weight-col names a column of weights: numbers of 0 or
            more, no feature, which what is predicted may lack.
  ndjson    A JSON object a line. The label is the key --label-col, which the model keeps, or else
            label, class, target or y.
            A number is the value of the feature of its key, a text a feature of its own (KEY=TEXT),
            true is 1, false and null are nothing. Keys of objects in objects are joined by a point;
            elements of arrays are numbered from 1; texts in them are words. Where all keys but the
            label's, or those of its one object, are numbers, these are numbers of features, as in
            svmlight; one array of numbers has features 1, 2, ... Names are kept in the model, up to
            a million; --hash-bits N hashes them into 2^N features.
  vw        Text of Vowpal Wabbit: [LABEL] [IMPORTANCE] ['TAG]|NAMESPACE[:WEIGHT] FEATURE[:VALUE] ...
            A feature is called NAMESPACE^FEATURE; without a namespace, and where all are numbers,
            it has that number, as in svmlight. The importance is the example's weight. Values of
            features that come twice are added up. --interactions ab multiplies the features of
            namespaces that begin with a by those of b; --hash-bits hashes names as VW does.
  npy       NumPy's arrays: X.npy of two dimensions, whose columns are features 1, 2, ..., and y.npy of
            labels, numbers or texts; name both, or have them beside each other. Elements are f4,
            f8, i1 to i8, u1 to u8 or b1, the lowest byte first, row by row.
  npz       NumPy's zip of such arrays (savez, savez_compressed), or a sparse matrix (CSR) of SciPy's
            save_npz. --label-col names the labels' array, or else it is y, target, labels, y_train
            or arr_1, with its examples X, data, features, x_train or arr_0; or the labels are in
            an npy beside it, as for npy. --weight-col names an array of weights. No pipe.
  idx       MNIST's pairs of images and labels: name both files; --positive says which class is +1.
  fasta     Splice sites: a header > ... label=VALUE, then a sequence, all of one length (at least
            51). The 49 trimers of the middle 51 letters, each one of 125 over A, C, G, T and
            unknown (N, R, Y, ...), make 6125 features, 49 of which are 1.
  Parquet   and Arrow's files and streams are read by halfspace-arrow, which is this command with
            them: tables of columns, as in csv, of lists of values, or of indices and values.

The format is recognised from the content; --format says it instead. What meets a model, and a test
set, has the format of training; --any-format takes another, feature by number: columns of csv count
from 1 without the label's, and --index-base says how svmlight counts.

Files packed by gzip, bzip2, xz or zstd are read as they are, whatever their names. - is stdin.
HALFSPACE_DATA may name a folder in which files are looked for that are not found otherwise.

A stream may be slow: two lines decide the format (one, if it has INDEX:VALUE), whole lines are
learned or predicted as they come, and --checkpoint-every 60s saves while nothing comes. At an
interrupt what was read is learned and saved. What was stopped, killed or ended by a bad row goes on
by train --resume -m MODEL and the same files, at the example where MODEL stands. A fasta record is
whole when the next begins. What is
packed comes as the packing program flushes it.

A line is at most 64 MiB long (--max-line; fasta: a record), and unpacking zstd or xz takes a window
of 128 MiB at most. With --mem-budget lines and windows, and the rows that wait for a second label,
must fit into its share for reading, or exit code 1 says which doesn't.

Labels

  Two labels: -1 and +1, or 0 and 1, mean themselves. Of other pairs the larger number (or the later
  text) is +1, whatever comes first; --positive LABEL chooses. More labels are as many classes, each
  told from the rest, unless more than half of the rows have one of their own, or the third is no
  whole number: that is a feature, taken for the label. --classes a,b,c names all there are. A
  stream has classes if the text before its first rows are learned has three labels; later ones are
  an error in stdin, and files are then read again from the beginning. The names are kept in the
  model, so predict prints them; they are text in UTF-8. All labels but that of --positive are
  printed as the one there was, or as not-LABEL.

  A stream's rows with the labels -1, 0 and +1 (with its sign) are learned from the first on: -1 and
  0 are the negative class then, and a second label must lie on the other side. Rows with another
  one, a plain 1 among them (beside 2 it is -1), wait for the second: up to 2^20 rows or 512 MiB of
  them, or their share of --mem-budget. Then a plain 1 is taken for +1; else --positive must say.

Values

  NaN and infinities are bad data. --on-error stop|skip|limit=N says what happens at a bad row.

Preparation

  --scale std       brings features to one scale. Of columns (csv, idx) it subtracts the mean and
                    divides by the standard deviation; a column that never changes becomes 0. Of
                    features that rows may lack it divides by the root of the mean square of the
                    values that are there
  --scale maxabs    divides each feature by its largest absolute value
                    Both go by what was seen up to and with each row of a stream, and by all rows
                    where these are in memory (--epochs, --shuffle, --until-converged). The model
                    keeps it; predict and --test change it no more
  --bias append     adds a feature of 1 to each example, before normalising
  --normalize unit  brings each example to length 1 (one without features stays as it is)
  --normalize max   divides all examples by the length of the longest one

  Each of the three is auto unless it is given: std, append and unit with csv, whose columns may be
  of any units, none with other formats and beside --rho. The summary says so (prepared); --scale
  none --bias none --normalize none takes the rows as they are.

  A model keeps how its data were prepared; predict and --test do the same.

Small files
  Of few examples one pass leaves too much unlearned. train, cv and the model that tune writes go
  through csv files of fewer than 10000 rows (and 4 million fields) 5 times, each time in a fresh
  order, and compare and tune look at them in the first of these, unless --epochs says otherwise:
  --epochs 1 is one pass in the order of the data. The error while it goes is that of the first
  pass. Not so with -i or --rows, nor of stdin, nor with --delay, --id-col, --drift, --window or
  --fading, which are about a stream, nor for learners with a posterior, which counts each example
  once.

Random Fourier features

  -a NAME --rff D --sigma s gives a linear learner D random features of what is prepared, half of
  them cosines, half sines, of length 1 together. Their inner products stand for the kernel
  exp(-|x-z|^2/(2 s^2)), with an error of about 1/sqrt(D), so that it learns what it would with that
  kernel. s is a width: where a paper writes exp(-|x-z|^2/(2 sigma)) with a variance, as that of the
  virtual vector machine does, give its root (sigma = 9 there is --sigma 3); exp(-gamma |x-z|^2) is
  --sigma 1/sqrt(2 gamma). The frequencies are drawn from --seed, feature by feature: the model
  keeps D, s and the seed. svm, pumma, romma, obpm, budget, tbp, sogp and kmp take the kernel itself
  (--kernel rbf --sigma s).`},
		{Use: "exit-codes", Short: "What the exit codes mean", Long: `
Exit codes

    0  good
    1  failed while running (disk full, out of memory, a kernel's self-test, ...), or what was
       learned is not a finite number
    2  wrong usage: a command, flag, value or combination that does not exist; an output that is an
       input or another output, by whatever name or link (train -i m -m m may be: the model is
       replaced by what it became)
    3  bad data: a file that is missing or can't be read as examples
    4  a model that can't be used: damaged, foreign, newer, of other settings, or on data of another
       format (--any-format)
    5  a gate was not met (bench --fail-over, repro --strict, diff --strict)
    6  not converged within the limit (train --until-converged --max-updates)
  130  stopped by an interrupt, SIGTERM (serve: 0) or the end of the terminal (SIGHUP, but not under
       nohup; serve reloads);
       train wrote the model if -m was given, tune and compare printed what a pass had found, repro
       kept what was finished. A second interrupt kills at once

Stderr may be closed, which ends nothing. A closed stdout ends the command by SIGPIPE, as it does
with others.

An error is one line, with file, line and column where there are any, and an indented line that says
what to do next.`},
		{Use: "env", Short: "Environment variables and the config file", Long: `
Every flag can be set in three places. The first that has it wins:

  1. the command line                --epochs 3
  2. the environment                 HALFSPACE_EPOCHS=3
  3. a TOML file, --config FILE      epochs = 3

A variable has the flag's long name in capitals, _ for -; names of one letter, as those of --b and
--B, keep their case. In the file, keys at the top serve every command that has such a flag; a table
with a command's name serves that command:

  threads = 2
  [train]
  learner = "obpm"
  members = 200
  shuffle = true

A key that is a flag of no command is an error. HALFSPACE_CONFIG names the file as --config does.

  HALFSPACE_DATA   a folder of data files: names not found otherwise are looked for there
  HALFSPACE_IMPL   the implementation of the kernels, as --impl; a wrong name ends every command
  NO_COLOR         is honoured: there are no colours`},
		{Use: "numerics", Short: "What is computed how, and why results are equal everywhere",
			Long: `
The same data, settings and seed give the same model, byte for byte, on every implementation of the
kernels (generic, avx2, avx512, neon), with any number of threads and any size of blocks. The order
of every sum is fixed, every multiply-add is fused, and random draws depend on seed and example
number alone. Training on A and then B is the same as training on A, saving, going on from the model
(-i) with B.

  --precision f32   weights and examples in single precision; sums of learners that average are kept
                    in double
  --precision f64   all in double precision

Words of the reports

  mistake            y f(x) <= 0 before the example was learned: a score of 0 is one
  error              the predicted label was wrong; the predicted label of a score of 0 is +1
  progressive_error  errors/examples of the first epoch, each example being predicted before it was
                     learned
  mistakes, updates  of all epochs; an ensemble counts every member's update
  margin             the least y f(x)/|w| over the training set, as prepared (an appended bias
                     counts as a feature); negative if an example is on the wrong side. Free when
                     the examples are in memory (several epochs, shuffling); --margin-report asks
                     for it after a stream, which is read again. Null for hypotheses without
                     weights.
  margins            with --margin-report: directional (the bias feature's weight counts), geometric
                     (it doesn't), in the p-norm of alma and pumma, and with --margin-svm the share
                     of the largest margin there is; of obpm the bounds of the directional one from
                     the members' margins: as averaged, with members of length 1, and with the best
                     weights, where there are 32 MiB of their weights at most
  fit                --until-converged in the order of the data: violators left, margin and bound,
                     Gamma and D'/D - 1 of a soft margin
  proba              with --proba, of the first epoch or the test: log-loss (nats; a probability
                     counts as at least 1e-15), Brier score, and the expected calibration error over
                     10 equal bins of P(+1). Those of obpm are the share of members that vote +1, no
                     posterior's
  latency            of learning one example: median, 99th percentile, longest. Of learners that
                     keep examples, and with --latency of any; the examples are learned one by one
                     then
  memory             with --mem-budget: what was planned for the program, reading, the data and the
                     learner's parts, what it holds twice while tables move or are copied, and the
                     most resident memory there was (0 where the system doesn't tell)
  seconds            read: waiting for examples; learn: learning and counting; total: of the whole
                     command

Warnings, a line each on stderr, also with -q, and the list warnings (code and text) in JSON

  not-finite           scores that are NaN or infinite; not_finite counts them. Exit code 1 if the
                       weights are, or all scores of a test
  diverged             of several learners that compare has learn, one has weights that are not
                       finite numbers: it is in no pair, and null in JSON. cv and train exit with 1
                       then, and tune says so of a setting
  one-class            all of 20 examples or more are predicted as one class, and 10 or more are of
                       the other
  worse-than-constant  more errors than always guessing the commoner class makes on the same
                       examples, by McNemar's test
  never-predicted      of more than two classes one has 10 examples or more, and is never predicted,
                       in a single pass or in the test
  rare-class           of 100 examples or more fewer than 5 are of a class
  one-label            all of 20 examples or more that were learned have the same label, and no
                       model was gone on from
  label-runs           the labels change less than a tenth as often as in a mixed order, as in
                       sorted files
  unscaled             a feature's root mean square is 100 times the typical one's, over 63 of the
                       first 1024 examples; learners of a posterior don't mind
  uncentred            over the same examples more than half of the values are not 0, a quarter or
                       more of their squares is that of the features' means, and a linear learner
                       has no bias; not with --bias none, or in going on from a model
  odd-data             what is passed over in the data, as padding behind packed ones
  passed-over          more than 1 % of the examples were not learned, as the posterior's numbers
                       did not allow it
  restarted            -i of a run until convergence that was cut, over other examples or with other
                       options (--shuffle, --active-set, --halving, --checkpoint-every,
                       --mem-budget): it starts at the first example, from the model's weights
  unknown-features     predict and --test: non-zeros of features beyond those of training;
                       unknown_non_zeros counts them
  unknown-labels       predict, evaluate -i and --test: labels that training never had, which count
                       as errors
  labels-predicted     evaluate: each label is the one that its score predicts, as in the lines that
                       predict writes

  one-class and worse-than-constant look at the test if there is one, else at the training set where
  its margin is measured, else at the predictions in the later half of what was presented.

--until-converged ends after a whole pass without an update. perceptron, alma (p = 2), romma, micra,
cramma and pumma see the data set as a whole then, examples count as divided by the longest one's
length where the algorithm wants that, and work on the scores of all examples where their Gram
matrix fits into 256 MiB (or --mem-budget): an update costs O(examples), finding the next violator
nothing. What can't converge ends after --max-updates (100 million if not given) with exit code 6
and says what is left. With --shuffle or --checkpoint-every, and for the other learners, it is
epochs as usual; --max-updates is looked at after each of them then, so that results don't depend on
block sizes. Beside --active-set, --halving or --soft-delta, --checkpoint-every leaves the run what
it is and saves where it stands. Epoch e of a shuffled run has its own order, drawn from (seed, e);
a run that goes on from a model counts its epochs on.

A run that --max-updates or Ctrl-C cut goes on with -i at the example where it stopped: with the
same examples and options (--active-set, --halving, --soft-delta, --shuffle) the model at its end is
the one of a run that was never cut, to the byte. A kernel, --soft-c, svm, ep and kmp start anew
each time, so -i is refused there, as is --soft-delta from a model that no such run was cut at. More
than two classes learn side by side, as epochs, but with --active-set, --halving, --soft-delta or a
learner of whole data sets: then one is fitted after another, all within one --max-updates, and of
those that start anew --resume begins again the class at which the run was stopped, no other. For
obpm a pass without an update shows little: it has converged if, besides, neither the average nor
any member makes a mistake on any example.`},
		{Use: "metrics", Short: "What is measured, and of which examples", Long: `
Each example is predicted before it is learned: metrics of train are of the first epoch, and of the
test with --test. predict has them of rows with labels, evaluate of any predictions.

  error       share of wrong predictions
  balanced    balanced error: the mean of the classes' shares of wrong predictions
  f1          of the positive class, the harmonic mean of precision and recall; of more than two
              classes the mean of all ("macro")
  auc         of two classes, the share of pairs of a positive and a negative of which the positive
              scores more. While it learns, scores are kept by bins: the true value is within the
              bound behind the sign ± (JSON: auc_bound). Of more classes, of the test and of what a
              model predicts, the mean of theirs, each by its scores against the rest ("macro");
              JSON has each class's, and their mean weighted by their examples (auc_weighted)
  log-loss    mean of -log of the probability of the label that came, in nats; as --proba
  brier       mean squared distance of the probability, of several classes summed over them
  ece         expected calibration error, over 10 equal bins of the probability
  classes     examples, predictions, precision, recall and F1 of each class, as a table
  confusion   how many of each class were predicted as which, up to 100 classes
  all         all that the learner has; probabilities take time

The summary says the error, and what --metrics names: --metrics auc,f1. What would be divided by 0
is 0, as in scikit-learn. Weights of examples count. --json has all that was measured: metrics,
recent, test.metrics. None of it changes what is learned.

cv, tune and compare judge by one of them: --score balanced, f1, auc, log-loss or brier. Weights
don't count there, and AUC is exact.

  --window N  metrics of the last N examples, too, in 56 bytes for each
  --fading A  metrics in which each example weighs A times what the next one does, too: about the
              last 1/(1-A) count
  --delay N   the label of an example comes after N more were predicted, which are predicted without
              it; then it is learned. Those that wait are in memory. The model is the same; those
              left at the end are learned then
  --id-col X  a label may come in a later row of the same id, with features or without: the first
              row is learned then, counted by what was predicted when it came. At most --wait-max
              rows and --wait-bytes wait; the oldest make room`},
		{Use: "progress", Short: "How progress is shown", Long: `
  --progress auto   a bar on a terminal, lines otherwise
  --progress bar    a bar
  --progress lines  a line after 1, 2, 4, 8, ... examples and at the end: error so far, error since
                    the last line, updates, examples per second; with --proba log-loss, Brier score
                    and calibration error so far; with --window and --fading their error in place of
                    that since the last line; with --metrics those. With --until-converged on a whole
                    data set: a line a second with updates, epochs, violators and margin
  --progress json   the same as JSON objects, one a line: schema, type, examples, error,
                    error_since, updates, epoch, seconds, metrics, recent (with --until-converged:
                    type "fit")
  --progress none   nothing (as -q, which leaves out the summary too)

All of it goes to stderr. Errors here count all epochs; an example is predicted before it is
learned.`},
	}
}
