/** Counts the users of names. */
export class ReferenceCounts {
  readonly #counts = new Map<string, number>();

  /** Names that have a user. */
  used(): string[] {
    return [...this.#counts.keys()];
  }

  has(name: string): boolean {
    return this.#counts.has(name);
  }

  /**
   * Replaces the names of one user.
   * @returns names that have got their first user, or lost their last one
   */
  replace(before: readonly string[], after: readonly string[]): string[] {
    const changed: string[] = [];
    for (const name of after) {
      const count = this.#counts.get(name) ?? 0;
      if (count === 0) changed.push(name);
      this.#counts.set(name, count + 1);
    }
    for (const name of before) {
      const count = this.#counts.get(name) ?? 0;
      if (count > 1) {
        this.#counts.set(name, count - 1);
        continue;
      }
      this.#counts.delete(name);
      changed.push(name);
    }
    return changed;
  }
}
