/** One page of a list, and how many the whole list has, of one moment. */
export interface Paged<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Which page of a list: `offset` items are passed over. */
export interface PageOf {
  readonly limit: number;
  readonly offset: number;
}
