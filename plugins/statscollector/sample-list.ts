import type { InterfaceCounters } from '#plugins/controller/api/ports/stats.ts';
import type { InterfaceSample, InterfaceSamples } from './api.ts';

/** The result of a collection. */
export class SampleList implements InterfaceSamples {
  readonly collectedAt: number | undefined;
  readonly error: string | undefined;
  readonly interfaces: readonly InterfaceSample[];
  /** Made when it is asked for: Prometheus does not need it. */
  #byName: ReadonlyMap<string, InterfaceCounters> | undefined;

  private constructor(
    collectedAt: number | undefined,
    error: string | undefined,
    interfaces: readonly InterfaceSample[],
  ) {
    this.collectedAt = collectedAt;
    this.error = error;
    this.interfaces = interfaces;
  }

  static found(collectedAt: number, interfaces: readonly InterfaceSample[]): SampleList {
    return new SampleList(collectedAt, undefined, interfaces);
  }

  static failed(error: string): SampleList {
    return new SampleList(undefined, error, []);
  }

  find(interfaceName: string): InterfaceCounters | undefined {
    this.#byName ??= new Map(
      this.interfaces.map(({ interfaceName: name, counters }) => [name, counters]),
    );
    return this.#byName.get(interfaceName);
  }

  without(interfaceNames: ReadonlySet<string>): SampleList {
    const left = this.interfaces.filter((one) => !interfaceNames.has(one.interfaceName));
    return new SampleList(this.collectedAt, this.error, left);
  }
}
