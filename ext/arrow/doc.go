// Package arrow reads Parquet files, and Arrow's files and streams, as examples. Importing it
// registers both formats: dataset.Open then recognises them, and the command halfspace-arrow is the
// whole command with them.
//
// A program that has record batches in memory gives them to [Open] or [Load].
//
// # Rows
//
// A table's rows are examples in one of three forms, which is found by the columns' types:
//
//   - Columns: each is the label, the weight, a feature that is a number, texts, of which each is a
//     feature, or left out. They are chosen, named and matched as those of csv files are, and the
//     model is that of the same table in csv.
//   - A list: one column of lists of numbers, all as long, has the features 1, 2, ... The model is
//     that of NumPy's arrays, and of svmlight.
//   - Sparse lists: one column of lists of struct<index, value>, or of maps from index to value, or
//     two columns of lists, indices and values. Indices ascend, and count as in svmlight, whose
//     model it is.
//
// Beside lists there are the label and, if it is named, the weight; other columns must be left out.
//
// Integers, floats of 16 to 64 bits and bool (1 and 0) are numbers; utf8, large_utf8 and
// dictionaries of them are texts. A null is a missing value, and so are NaN, and as in csv the
// texts that mean one: see dataset.Options.Missing. Other types are refused by the column's name
// where the column is used.
//
// # What is copied
//
// Learners take rows: dense ones one behind the other, or sparse ones as offsets, indices and
// values. Buffers of float32 (float64 for learners of that precision), of indices of int32, and of
// lists of float32 are taken from where Arrow has them, if there are no nulls, and copied once, by
// Options.Workers goroutines, into the blocks that the learner gets: with the bias before them, and
// normalised or scaled there. Columns are transposed by that copy; lists are not. Numbers of other
// types are converted before, a run of some thousand at a time. IPC bodies that are not compressed
// are read to where the rows are copied from; Parquet is decoded, column beside column.
//
// Memory is bounded: a record batch is held once, of Parquet a page of each column that is used.
// What would take more than dataset.Options.Memory's half, or 1 GiB, is an error.
package arrow
