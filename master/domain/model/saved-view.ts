/** A list of tasks that people look at again and again, kept under a name. */
export interface SavedView {
  /** Unique in its namespace. */
  readonly name: string;
  /** JSON: the query of the list, in the words of the API. */
  readonly query: string;
}

/** To a saved view. */
export interface ViewChange {
  readonly type: 'viewSet';
  readonly name: string;
  /** JSON text; null: there is to be none. */
  readonly query: string | null;
}
