//! The ranking of tools for a question in plain words: BM25F over the fields of each tool, by stems,
//! with the synonyms of the field.
//!
//! Robertson and Zaragoza (2009), "The Probabilistic Relevance Framework: BM25 and Beyond",
//! sections 3.4 and 3.5.

mod vocabulary;

use std::collections::{BTreeMap, HashMap, HashSet};

use rust_stemmers::{Algorithm, Stemmer};
use vocabulary::{STOP_WORDS, SYNONYMS};

/// The saturation of a term's frequency (k1).
const SATURATION: f64 = 1.2;
/// The influence of a document's length (b).
const LENGTH: f64 = 0.6;
/// The weight of a term that a synonym of one word adds, against that of a word of the question.
const SYNONYM_OF_WORD: f64 = 0.6;
/// The weight of a term that an expression of several words adds, which is surer.
const SYNONYM_OF_EXPRESSION: f64 = 1.0;
/// The weight of a word of the question within such an expression.
const WORD_OF_EXPRESSION: f64 = 0.35;

/// A text of a document with the weight of its words.
pub(super) struct WeightedText {
    /// The text in plain words; `_`, `-` and `/` separate words.
    pub(super) text: String,
    /// The weight of each word.
    pub(super) weight: f64,
}

/// An index of documents, which are known by their position.
pub(super) struct Index {
    stemmer: Stemmer,
    stop_words: HashSet<&'static str>,
    synonyms: Vec<(Vec<String>, Vec<String>)>,
    documents: Vec<IndexedDocument>,
    /// The number of documents with each term.
    containing: HashMap<String, u32>,
    mean_length: f64,
}

struct IndexedDocument {
    /// The weighted frequency of each term.
    terms: HashMap<String, f64>,
    length: f64,
}

impl Index {
    /// Makes the index of documents, each with its fields.
    pub(super) fn of(documents: impl Iterator<Item = Vec<WeightedText>>) -> Self {
        let mut index = Self {
            stemmer: Stemmer::create(Algorithm::English),
            stop_words: STOP_WORDS.iter().copied().collect(),
            synonyms: Vec::new(),
            documents: Vec::new(),
            containing: HashMap::new(),
            mean_length: 1.0,
        };
        let stems = |text| index.stems(text);
        index.synonyms = SYNONYMS.iter().map(|(from, to)| (stems(from), stems(to))).collect();
        for fields in documents {
            let document = index.indexed(&fields);
            for term in document.terms.keys() {
                *index.containing.entry(term.clone()).or_default() += 1;
            }
            index.documents.push(document);
        }
        let total: f64 = index.documents.iter().map(|document| document.length).sum();
        let count = index.count().max(1.0);
        index.mean_length = (total / count).max(1.0);
        index
    }

    /// Returns the documents that match a question with their scores, the best first. Documents of
    /// equal score keep their order. `None` for a question without a word that says anything.
    pub(super) fn rank(&self, question: &str) -> Option<Vec<(usize, f64)>> {
        let terms = self.terms(question);
        if terms.is_empty() {
            return None;
        }
        let scores = self.documents.iter().map(|document| self.score(document, &terms));
        let mut found: Vec<(usize, f64)> =
            scores.enumerate().filter(|(_, score)| *score > 0.0).collect();
        found.sort_by(|(_, left), (_, right)| right.total_cmp(left));
        Some(found)
    }

    /// Returns the stems of all words of a text, in order.
    fn stems(&self, text: &str) -> Vec<String> {
        let text = text.to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(|word| self.stemmer.stem(word).into_owned()).collect()
    }

    /// Returns the terms of a question with their weights: its words, and what synonyms add.
    ///
    /// The terms are sorted, so that the sum of their scores has the same bits each time.
    fn terms(&self, question: &str) -> BTreeMap<String, f64> {
        let lower = question.to_lowercase();
        let words: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let stems = self.stems(question);
        let mut weights = vec![1.0; words.len()];
        let mut terms: BTreeMap<String, f64> = BTreeMap::new();
        for (from, to) in &self.synonyms {
            let is_expression = from.len() > 1;
            let weight = if is_expression { SYNONYM_OF_EXPRESSION } else { SYNONYM_OF_WORD };
            for at in (0..words.len()).filter(|at| stems[*at..].starts_with(from)) {
                if is_expression {
                    weights[at..at + from.len()].fill(WORD_OF_EXPRESSION);
                }
                for term in to {
                    let known = terms.entry(term.clone()).or_default();
                    *known = known.max(weight);
                }
            }
        }
        for ((word, stem), weight) in words.iter().zip(&stems).zip(weights) {
            if !self.stop_words.contains(word) {
                let known = terms.entry(stem.clone()).or_default();
                *known = known.max(weight);
            }
        }
        terms
    }

    fn indexed(&self, fields: &[WeightedText]) -> IndexedDocument {
        let mut document = IndexedDocument { terms: HashMap::new(), length: 0.0 };
        for field in fields {
            for stem in self.stems(&field.text) {
                *document.terms.entry(stem).or_default() += field.weight;
                document.length += field.weight;
            }
        }
        document
    }

    fn score(&self, document: &IndexedDocument, terms: &BTreeMap<String, f64>) -> f64 {
        let length = 1.0 - LENGTH + LENGTH * document.length / self.mean_length;
        let score = |(term, weight): (&String, &f64)| {
            let frequency = document.terms.get(term).copied().unwrap_or_default() / length;
            weight * self.rarity(term) * frequency / (SATURATION + frequency)
        };
        terms.iter().map(score).sum()
    }

    /// Returns the number of documents.
    fn count(&self) -> f64 {
        u32::try_from(self.documents.len()).map_or(f64::INFINITY, f64::from)
    }

    /// Returns the inverse document frequency of a term.
    fn rarity(&self, term: &str) -> f64 {
        let containing = f64::from(self.containing.get(term).copied().unwrap_or_default());
        let all = self.count();
        (1.0 + (all - containing + 0.5) / (containing + 0.5)).ln()
    }
}
