package papers

// knownRow is why some rows of an experiment are outside, or contradict the paper.
type knownRow struct {
	experiment string
	words      string // of the rows: all of them
	why        string
}

// known returns why a row is known to be outside or contradicted; "" if it is not known to be.
func known(r Row) string {
	for _, k := range knownRows {
		if k.experiment == r.Experiment && hasWords(r.Row+" "+r.Quantity, k.words) {
			return k.why
		}
	}
	return ""
}

// Reasons of several rows.
const (
	encoding = "the exact svm's margin is off by as much: the paper's encoding or subset is another"
	noisy    = "label noise 0.1 was not matched under any reading tried"
	kernel2  = "two statements of the paper point to different kernels, and this is the other one's"
	rank2    = "through the origin the kernel matrix has rank 2, for which the paper makes an " +
		"exception of its rule"
	sharp = "an exact kernel with a sharp likelihood is better than VVM with linear or 100 " +
		"random features"
	onePass = "the paper says similar, without a number; one pass stays more than a percentage " +
		"point above the svm"
	long = "ALMA's theorem has it make several hundred times as many updates; the paper does not " +
		"say where it was stopped"
)

// knownRows are rows that are outside or contradicted with the paper's number of runs from seed 1,
// and why, as far as is known. A gate (repro --strict) fails on others only.
var knownRows = []knownRow{
	{"obpm/table1", "generated e=0.1", noisy},
	{"obpm/sensitivity", "generated e=0.1 chosen by training error", noisy},
	{"obpm/table2", "Adult perceptron epoch 2", "the paper's 18.81 is the lowest of its three " +
		"epochs, with the smallest spread; ours do not differ"},
	{"obpm/table2", "Adult obpm tau=0.01 epoch 1", "the printed tau=0.01 does not give the " +
		"printed values; tau=0.05 does"},
	{"obpm/table2", "100000 do not differ", "ten times the paper's test examples tell them apart"},
	{"pumma/section5.1", "10 times pumma above alma", long},
	{"pumma/rates", "slope", "the paper's experiments vary r alone, with k = 16 and n = 100; the " +
		"exponents of k and ln n are near 1.5"},
	{"pumma/section5.1", "bias 15 romma above pumma cpu_seconds_difference", "both take some 15 " +
		"ms, and which is the faster hinges on the machine"},
	{"pumma/table1", "house-votes", encoding},
	{"pumma/table1", "adult-1k pumma margin*100", encoding + "; 4.50 is probably a slip for 4.90"},
	{"pumma/table1", "adult-1k", encoding},
	{"pumma/table1", "adult-2k", encoding},
	{"pumma/table1", "adult-4k", encoding},
	{"pumma/table1", "adult-8k", encoding},
	{"pumma/table1", "adult-16k", encoding},
	{"pumma/table1", "adult-full", encoding},
	{"pumma/table2", "class=8 svm without bias", "0.737 is probably a slip for 0.727: the " +
		"paper's average of the column, 0.741, is that of 0.727, and its ROMMA, which is just " +
		"below in all classes, has 0.723"},
	{"vvm/figure1", "all above ep", "EP takes the mean too long; its direction is the nearest"},
	{"vvm/figure1", "adf above all", "window-EP takes the mean too long; by directions it is as " +
		"far off as ADF"},
	{"vvm/figures2-4", "Spambase sogp eps=.05 above vvm", sharp},
	{"vvm/figures2-4", "Ionosphere sogp above vvm", sharp},
	{"vvm/table1", "Thyroid", "test errors are as low with B = 10 as with 50: all are at the " +
		"paper's level for B = 50, whose fall from there comes out only where the first B " +
		"examples of a stream do not count"},
	{"tbp/figure6", "through the origin budget above", rank2},
	{"tbp/usps-noise", "exp(-d^2/512) perceptron above", kernel2},
	{"tbp/usps-noise", "exp(-d^2/512) within svm", kernel2},
	{"tbp/usps", "exp(-d^2/512) within svm", kernel2},
	{"tbp/waveform", "within svm", onePass},
	{"tbp/banana", "within svm", onePass},
}
