// @ts-check
// Lines of several stages: 50·tanh(100 / 50) = 50·tanh(2) ≈ 50·0.964.

"use strict";

class LookupStages {
  /** @param {Lines} lines */
  constructor({ relation, sentences }) {
    this.relation = relation;
    this.sentences = sentences;
    // Whether the stage that is being worked out gives exactly the numbers that it prints.
    this.holds = true;
  }

  /**
   * The stages of a sentence as one expression, and the last of them; none where nothing is worked
   * inside. `truth` is the same sentence with all digits.
   *
   * @param {Sentence} sentence
   * @param {Sentence} truth
   * @returns {[chain: Sentence, last: Sentence]}
   */
  of(sentence, truth) {
    let chain = sentence;
    let last = null;
    while (!this.isReady(sentence)) {
      this.holds = true;
      const [next, further] = this.stage(sentence, truth);
      if (areAlike(next, sentence)) break;
      const comes = this.holds || this.areEqual(sentence, next) ? "comes_to" : "comes_near";
      chain = [comes, chain, next];
      [sentence, truth, last] = [next, further, next];
    }
    return [chain, last];
  }

  /**
   * @param {Sentence} sentence
   * @param {Sentence} next
   */
  areEqual(sentence, next) {
    const before = this.relation.exactValue(sentence);
    return before !== null && areSame(before, this.relation.exactValue(next));
  }

  /**
   * Whether only a look-up is left.
   *
   * @param {Sentence} node
   */
  isReady(node) {
    return isCall(node) && this.relation.isLookedUp(node[0]) && node.slice(1).every(isNumber);
  }

  /**
   * @param {any} node
   * @param {any} truth
   * @returns {[Sentence, Sentence]}
   */
  stage(node, truth) {
    if (!isCall(node) || !isCall(truth)) return [node, truth];
    if (this.isReady(node)) return this.worked(node, truth);
    const [kind, ...parts] = node;
    const isLookedUp = this.relation.isLookedUp(kind);
    const pairs = parts.map((part, at) =>
      isLookedUp ? this.worked(part, truth[at + 1]) : this.stage(part, truth[at + 1]),
    );
    return [
      [kind, ...pairs.map(([shown]) => shown)],
      [kind, ...pairs.map(([, full]) => full)],
    ];
  }

  /**
   * @param {Sentence} node
   * @param {Sentence} truth
   * @returns {[Sentence, Sentence]}
   */
  worked(node, truth) {
    if (isNumber(node)) return [node, truth];
    const float = this.sentences.float(truth);
    const shown = this.sentences.rounded(float);
    this.holds &&= this.relation.gives(node, shown);
    return [shown, { text: `${float}`, value: null, float }];
  }
}
