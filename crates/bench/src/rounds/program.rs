//! Linear programs, solved by an interior-point method.
//!
//! The references' programs have many solutions that are equally good, and what
//! a simulation comes to depends on which is taken. An interior-point method
//! takes one in the middle of them, as the published runs do; a simplex method
//! would take a corner, and come out 3 % elsewhere.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver as _, SupportedConeT};

/// A weighted sum of variables that may be no more than so much.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Variables, with their weights; each once.
    pub terms: Vec<(usize, f64)>,
    /// The most that the sum may be.
    pub most: f64,
}

/// Variables that are not below zero, and what each gains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// What one of each variable gains; the sum is made as large as can be.
    pub gains: Vec<f64>,
    /// What must hold.
    pub rows: Vec<Row>,
}

impl Program {
    /// The values of the variables.
    #[must_use]
    pub fn solve(&self) -> Vec<f64> {
        let variables = self.gains.len();
        let height = self.rows.len() + variables;
        let (mut lines, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (line, row) in self.rows.iter().enumerate() {
            for (variable, weight) in &row.terms {
                lines.push(line);
                columns.push(*variable);
                values.push(*weight);
            }
        }
        for variable in 0..variables {
            lines.push(self.rows.len() + variable);
            columns.push(variable);
            values.push(-1.0);
        }
        let matrix = CscMatrix::new_from_triplets(height, variables, lines, columns, values);
        let mut limits: Vec<f64> = self.rows.iter().map(|row| row.most).collect();
        limits.resize(height, 0.0);
        let costs: Vec<f64> = self.gains.iter().map(|gain| -gain).collect();
        let settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
        let nothing = CscMatrix::zeros((variables, variables));
        let cones = [SupportedConeT::NonnegativeConeT(height)];
        let mut solver = DefaultSolver::new(&nothing, &costs, &matrix, &limits, &cones, settings)
            .expect("the sizes agree and the settings are those that come with it");
        solver.solve();
        // Where it ends short of its tolerance the values are as good as they got, and what is
        // shared by them is still lawful: shares only order the queue.
        solver.solution.x.iter().map(|value| f64::max(*value, 0.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(gains: &[f64], rows: &[(&[(usize, f64)], f64)]) -> Vec<f64> {
        let row =
            |(terms, most): &(&[(usize, f64)], f64)| Row { terms: terms.to_vec(), most: *most };
        let rows = rows.iter().map(row).collect();
        let values = Program { gains: gains.to_vec(), rows }.solve();
        values.iter().map(|value| (value * 1e4).round() / 1e4).collect()
    }

    #[test]
    fn the_largest_sum_is_at_the_corner() {
        let values =
            solve(&[3.0, 2.0], &[(&[(0, 1.0), (1, 1.0)], 4.0), (&[(0, 1.0), (1, 3.0)], 6.0)]);
        assert_eq!(values, [4.0, 0.0]);
    }

    #[test]
    fn of_many_solutions_one_in_the_middle_is_taken() {
        assert_eq!(solve(&[1.0, 1.0], &[(&[(0, 1.0), (1, 1.0)], 1.0)]), [0.5, 0.5]);
    }
}
