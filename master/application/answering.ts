/** Silence of a store, told apart from what waits in a line of our own. */

/** Says how long it leaves us without an answer. */
export interface Answering {
  /**
   * How long the database has not answered the oldest of what engines have handed it, of whichever namespace; 0: it has
   * answered all. What waits for a connection, or for others, it was not handed, and what people ask for may take long. A
   * store that never lets anything wait may say that it is infinite.
   */
  owedMs(): number;
}
