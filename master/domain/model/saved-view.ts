/** A list of tasks that people look at again and again, kept under a name. */
export interface SavedView {
  /** Unique in its namespace. */
  readonly name: string;
  /** JSON: the query of the list, in the words of the API. */
  readonly query: string;
}
