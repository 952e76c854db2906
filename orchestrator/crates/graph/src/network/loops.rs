//! Pages that cite each other in a circle.

use super::Network;

/// How far the enumeration of loops goes. Their number can be exponential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopLimits {
    /// Longest loop, in nodes, at most 32.
    pub max_length: usize,
    /// Most loops.
    pub max_loops: usize,
    /// Most edges to examine.
    pub max_steps: usize,
}

impl Default for LoopLimits {
    fn default() -> Self {
        Self { max_length: 6, max_loops: 1_000, max_steps: 5_000_000 }
    }
}

/// Loops found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Loops {
    /// Each once, from its first node along the edges; ordered by first node, then as they were found.
    pub loops: Vec<Vec<usize>>,
    /// A limit on loops or steps ended the search: there are more.
    pub truncated: bool,
}

impl Network {
    /// Pairs of nodes with edges both ways, the smaller node first, in order.
    pub fn mutual(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for node in 0..self.len() {
            for &other in self.forward.of(node) {
                let other = other as usize;
                if node < other && self.forward.has(other, node) {
                    pairs.push((node, other));
                }
            }
        }
        pairs
    }

    /// Nodes with an edge to themselves.
    pub fn self_loops(&self) -> Vec<usize> {
        (0..self.len()).filter(|&node| self.forward.has(node, node)).collect()
    }

    /// Strongly connected components of two nodes or more: every loop lies within one of them. Largest first, then by
    /// first node; members sorted (Tarjan 1972, without recursion).
    pub fn strong_components(&self) -> Vec<Vec<usize>> {
        let n = self.len();
        let (mut index, mut low) = (vec![usize::MAX; n], vec![0; n]);
        let mut on_stack = vec![false; n];
        let (mut stack, mut found, mut counter) = (Vec::new(), Vec::new(), 0);
        for root in 0..n {
            if index[root] != usize::MAX {
                continue;
            }
            // Nodes being visited, each with the number of its neighbors already seen.
            let mut visits = vec![(root, 0)];
            while let Some((node, seen)) = visits.pop() {
                if seen == 0 {
                    (index[node], low[node]) = (counter, counter);
                    counter += 1;
                    stack.push(node);
                    on_stack[node] = true;
                }
                let neighbours = self.forward.of(node);
                if let Some(&next) = neighbours.get(seen) {
                    let next = next as usize;
                    visits.push((node, seen + 1));
                    if index[next] == usize::MAX {
                        visits.push((next, 0));
                    } else if on_stack[next] {
                        low[node] = low[node].min(index[next]);
                    }
                    continue;
                }
                if let Some(&(parent, _)) = visits.last() {
                    low[parent] = low[parent].min(low[node]);
                }
                if low[node] == index[node] {
                    let start = stack.iter().rposition(|&member| member == node).unwrap_or(0);
                    let mut members = stack.split_off(start);
                    for &member in &members {
                        on_stack[member] = false;
                    }
                    if members.len() > 1 {
                        members.sort_unstable();
                        found.push(members);
                    }
                }
            }
        }
        found.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        found
    }

    /// Loops of three nodes or more, as far as the limits allow. [`Network::mutual`] has those of two.
    pub fn loops(&self, limits: LoopLimits) -> Loops {
        let mut component = vec![usize::MAX; self.len()];
        let components = self.strong_components();
        for (number, members) in components.iter().enumerate() {
            for &member in members {
                component[member] = number;
            }
        }
        let mut starts: Vec<usize> = components.into_iter().filter(|c| c.len() > 2).flatten().collect();
        starts.sort_unstable();
        let mut walk = Walk {
            network: self,
            limits: LoopLimits { max_length: limits.max_length.min(32), ..limits },
            component,
            home: vec![usize::MAX; self.len()],
            path: Vec::new(),
            steps: 0,
            found: Loops::default(),
        };
        for start in starts {
            walk.from(start);
            if walk.found.truncated {
                break;
            }
        }
        walk.found
    }
}

/// A search for the loops whose smallest node is the first of `path`.
struct Walk<'n> {
    network: &'n Network,
    limits: LoopLimits,
    component: Vec<usize>,
    /// Edges on the shortest way back to the start over nodes that come after it: a path that is too far from home
    /// is not followed.
    home: Vec<usize>,
    path: Vec<usize>,
    steps: usize,
    found: Loops,
}

impl Walk<'_> {
    fn from(&mut self, start: usize) {
        let reached = self.measure(start);
        self.path.push(start);
        self.extend(start, start);
        self.path.pop();
        for node in reached {
            self.home[node] = usize::MAX;
        }
    }

    /// Fills `home` for the nodes within reach; returns them.
    fn measure(&mut self, start: usize) -> Vec<usize> {
        self.home[start] = 0;
        let mut reached = vec![start];
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            next += 1;
            let far = self.home[node] + 1;
            if far >= self.limits.max_length {
                break;
            }
            for &before in self.network.backward.of(node) {
                let before = before as usize;
                self.steps += 1;
                if self.open(start, before) && self.home[before] == usize::MAX {
                    self.home[before] = far;
                    reached.push(before);
                }
            }
        }
        reached
    }

    fn open(&self, start: usize, node: usize) -> bool {
        node > start && self.component[node] == self.component[start]
    }

    fn extend(&mut self, start: usize, node: usize) {
        for &next in self.network.forward.of(node) {
            let next = next as usize;
            self.steps += 1;
            if self.steps > self.limits.max_steps {
                self.found.truncated = true;
            }
            if self.found.truncated {
                return;
            }
            if next == start && self.path.len() > 2 {
                if self.found.loops.len() == self.limits.max_loops {
                    self.found.truncated = true;
                    return;
                }
                self.found.loops.push(self.path.clone());
            } else if self.open(start, next)
                && self.home[next] != usize::MAX
                && self.path.len() + self.home[next] <= self.limits.max_length
                && !self.path.contains(&next)
            {
                self.path.push(next);
                self.extend(start, next);
                self.path.pop();
            }
        }
    }
}
