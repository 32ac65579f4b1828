/** Reads a part of an object on its own: the rest of the object counts if it is invalid. */
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { schemaErrorText } from './schema-error-text.ts';

export class PartReader<S extends TSchema> {
  readonly #schema: S;
  readonly #fault: (part: Static<S>) => string | undefined;
  /** Compiled at the first use: most programs read no such object. */
  #validator: Validator | undefined;

  /** @param fault why a part that has the right types is invalid */
  constructor(schema: S, fault: (part: Static<S>) => string | undefined = () => undefined) {
    this.#schema = schema;
    this.#fault = fault;
  }

  /**
   * @param at path of the part in its object
   * @param report called with the reason if the part is invalid
   * @returns undefined: it is invalid
   */
  read(input: unknown, at: string, report: (problem: string) => void): Static<S> | undefined {
    this.#validator ??= Compile(this.#schema as TSchema);
    if (!this.#validator.Check(input)) {
      report(schemaErrorText(this.#validator.Errors(input), input, at));
      return undefined;
    }
    const fault = this.#fault(input as Static<S>);
    if (fault === undefined) return input as Static<S>;
    report(`${at} ${fault}`);
    return undefined;
  }
}
