/** The changes of tables during one event, so that they can be rolled back. */
export class Journal {
  #undos: (() => void)[] | undefined;

  /** Changes are recorded from now on. */
  begin(): void {
    this.#undos = [];
  }

  /** The changes stay. */
  end(): void {
    this.#undos = undefined;
  }

  /** Undoes the changes, the last one first. */
  rollBack(): void {
    const undos = this.#undos ?? [];
    this.#undos = undefined;
    for (const undo of undos.reverse()) undo();
  }

  record(undo: () => void): void {
    this.#undos?.push(undo);
  }
}
