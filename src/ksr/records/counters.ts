/** Counters of the records of one kind; the meanings are those of the original. */
export interface RecordCounters {
  adds: number;
  updates: number;
  deletes: number;
  resyncs: number;
  addErrors: number;
  updateErrors: number;
  deleteErrors: number;
  /** Objects that cannot be read, each time that they come. */
  argErrors: number;
  resyncErrors: number;
}

export function newCounters(): RecordCounters {
  return {
    adds: 0,
    updates: 0,
    deletes: 0,
    resyncs: 0,
    addErrors: 0,
    updateErrors: 0,
    deleteErrors: 0,
    argErrors: 0,
    resyncErrors: 0,
  };
}
