package plan

import "math"

// Model says what schedules of one system come to.
type Model struct {
	// fixed after NewModel
	levels int
	free   int // levels below it cost nothing
	top    int // the highest level that fails

	rate, cost []float64 // of every level
	restart    []float64 // g: a restart from a checkpoint of the level, those that fail included
	total      float64   // Λ: failures of the levels that cost something
	stretch    float64   // how much longer processing takes for restarts that lose no work
	lag        float64   // time until a checkpoint has passed the path
}

// Point is what the model says of one schedule.
type Point struct {
	// Utilization is the share of time that does useful work, 0 to 1; NaN where the model says nothing, because by its count
	// more work is lost than done.
	Utilization float64
	// Strain is the largest λ_l·T/P_l of the levels that some checkpoints do not survive: failures of a level between two
	// checkpoints that survive it.
	Strain float64
	// Bias is about how much Utilization is above that of the process that the model describes; see Model.bias.
	Bias float64
}

// Up to MaxStrain and MaxBias, either way, the model holds: the process comes to its utilization within 0.003. Above that
// strain the two parts of the bias may cancel by chance.
const (
	MaxStrain = 0.05
	MaxBias   = 0.002
)

// Valid reports whether the model is good at the point.
func (p Point) Valid() bool { return p.Strain <= MaxStrain && math.Abs(p.Bias) <= MaxBias }

// NewModel returns the model of a system: the mistakes of Check, or ErrNothingFails.
func NewModel(s System) (*Model, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	m := &Model{levels: len(s.Levels), top: -1, stretch: 1, lag: s.lag()}
	below := 0.0 // Λ_l, failures of this level and those below
	for i, l := range s.Levels {
		rate, restart := float64(l.Rate), float64(l.Restart)
		below += rate
		m.rate = append(m.rate, rate)
		m.cost = append(m.cost, float64(l.Cost))
		m.restart = append(m.restart, repeated(below, restart))
		if l.Cost == 0 {
			m.free = i + 1
			m.stretch += rate * m.restart[i]
			continue
		}
		m.total += rate
		if rate > 0 {
			m.top = i
		}
	}
	if m.top < 0 {
		return nil, ErrNothingFails
	}
	return m, nil
}

// repeated returns how long something of length d takes that begins anew at each failure: (e^(rate·d) − 1)/rate.
func repeated(rate, d float64) float64 {
	if rate == 0 || d == 0 {
		return d
	}
	return math.Expm1(rate*d) / rate
}

// Lowest and Highest return the levels, from 1, between which a plan draws: levels below cost nothing and are always kept,
// nothing fails that needs those above.
func (m *Model) Lowest() int  { return m.free + 1 }
func (m *Model) Highest() int { return m.top + 1 }

// At returns what a checked schedule comes to.
func (m *Model) At(s Schedule) Point {
	t := float64(s.Interval)
	v := m.evaluate(t, s.Probabilities, nil)
	u := math.Exp(v.logU)
	if math.IsInf(v.logU, -1) && v.blind {
		u = math.NaN()
	}
	strain, bias := m.bias(t, s.Probabilities)
	return Point{Utilization: u, Strain: strain, Bias: u * bias}
}

// bias returns the strain, and how far the model is off, as a share of the utilization. It is good while λ_l·T ≪ P_l; then
// two things are off that grow with the completed checkpoints that are lost, λ_l·T·(1 − P_l)/P_l an interval:
//
//   - The model counts the checkpoints since the last that survives a failure, as if no failure of the kind had come in
//     between. One comes in λ_l·T/P_l of the cases, and what it took away cannot be lost again.
//   - What is lost is drawn anew when it is done again. So cheap checkpoints are lost more often than they stay, and those
//     that stay cost more than Σ p_l·c_l, and take longer to restart from.
func (m *Model) bias(t float64, p []float64) (strain, bias float64) {
	at := m.sums(p)
	x := math.Exp(m.total*m.lag + logExpm1(m.total*m.stretch*t))
	left := 1 - x*at.lost
	below, cheap, quick := 0.0, 0.0, 0.0 // sums of p, p·c and p·g below the level
	mean := 0.0
	for l := m.free; l < m.levels; l++ {
		if p[l] > 0 {
			mean += p[l] * m.restart[l]
		}
	}
	for l := m.free; l < m.levels; l++ {
		if m.rate[l] > 0 && below > 0 {
			lost := x * m.rate[l] / m.total * below / at.above[l]
			again := m.rate[l] * t / at.above[l]
			strain = max(strain, again)
			bias += lost * ((at.cost-cheap/below)/(t-at.cost) + (mean-quick/below)/at.failure - again/(1+again)/left)
		}
		if p[l] > 0 {
			below += p[l]
			cheap += p[l] * m.cost[l]
			quick += p[l] * m.restart[l]
		}
	}
	return strain, bias
}

// value is the logarithm of the utilization with its derivatives.
type value struct {
	logU float64
	// blind is true where the model says nothing.
	blind bool
	// byT is ∂logU/∂T; byP, where it was asked for, ∂logU/∂p_l with the other probabilities held.
	byT float64
	byP []float64
}

// evaluate computes
//
//	Λ   = Σ λ_l                       X = e^(Λ·lag) · (e^(Λ·stretch·T) − 1)
//	R_l = Σ_{i≥l} p_i·g_i / P_l       P_l = Σ_{i≥l} p_i
//	A   = 1/Λ + Σ (λ_l/Λ)·R_l         B = Σ (λ_l/Λ)·(1 − P_l)/P_l
//	U   = (T − Σ p_l·c_l)·(1 − X·B) / (X·A)
//
// in logarithms, so that nothing overflows. byP, of the length of p, takes the derivatives by it if it is not nil.
func (m *Model) evaluate(t float64, p, byP []float64) value {
	at := m.sums(p)
	logX := m.total*m.lag + logExpm1(m.total*m.stretch*t)
	xb := math.Exp(logX + math.Log(at.lost))
	v := value{byP: byP, blind: !(xb < 1)}
	work := t - at.cost
	if v.blind || !(work > 0) || math.IsInf(at.failure, 1) {
		v.logU = math.Inf(-1)
		return v
	}
	v.logU = math.Log(work) + math.Log1p(-xb) - logX - math.Log(at.failure)
	rise := m.total * m.stretch / -math.Expm1(-m.total*m.stretch*t) // ∂logX/∂T
	v.byT = 1/work - rise/(1-xb)
	if byP != nil {
		m.slopes(at, p, slope{work: work, loss: math.Exp(logX) / (1 - xb)}, byP)
	}
	return v
}

// sums are what a schedule's probabilities come to.
type sums struct {
	cost    float64   // Σ p_l·c_l
	failure float64   // A: what a failure costs, without the checkpoints that are lost
	lost    float64   // B: completed checkpoints lost by a failure
	above   []float64 // P_l
	back    []float64 // R_l
}

func (m *Model) sums(p []float64) sums {
	at := sums{failure: 1 / m.total, above: make([]float64, m.levels), back: make([]float64, m.levels)}
	above, back := 0.0, 0.0
	for l := m.levels - 1; l >= m.free; l-- {
		if p[l] > 0 { // 0 times a restart that never ends is 0
			at.cost += p[l] * m.cost[l]
			above += p[l]
			back += p[l] * m.restart[l]
		}
		at.above[l] = above
		if m.rate[l] == 0 {
			continue
		}
		share := m.rate[l] / m.total
		at.back[l] = back / above
		at.failure += share * at.back[l]
		at.lost += share * max(0, 1-above) / above
	}
	return at
}

// slope carries what the derivatives by all probabilities share.
type slope struct{ work, loss float64 }

// slopes sets byP to ∂logU/∂p_k. Two running sums over the levels make it linear: a level k counts for every l ≤ k as one
// that survives, for every l > k as one that is lost.
func (m *Model) slopes(at sums, p []float64, s slope, byP []float64) {
	lost := 0.0 // Σ_{l>k} share_l/P_l
	for l := m.free; l < m.levels; l++ {
		if m.rate[l] > 0 {
			lost += m.rate[l] / m.total / at.above[l]
		}
	}
	kept, restart, known := 0.0, 0.0, 0.0 // Σ_{l≤k} share_l·(1−P_l)/P_l², Σ share_l/P_l, Σ share_l·R_l/P_l
	for k := m.free; k < m.levels; k++ {
		if m.rate[k] > 0 {
			share := m.rate[k] / m.total / at.above[k]
			lost -= share
			kept += share * max(0, 1-at.above[k]) / at.above[k]
			restart += share
			known += share * at.back[k]
		}
		byA := -known
		if restart > 0 {
			byA += m.restart[k] * restart
		}
		byB := lost - kept
		byP[k] = -m.cost[k]/s.work - byA/at.failure - s.loss*byB
	}
}

// logExpm1 returns log(e^z − 1) for z > 0, for small and for large z.
func logExpm1(z float64) float64 { return z + math.Log(-math.Expm1(-z)) }
