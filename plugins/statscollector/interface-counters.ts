/** Counters of an interface in documents, which are numbers there. */
import { InterfaceCounters as CountersDocument } from '#documents/interfaces.ts';
import type { InterfaceCounters } from '#plugins/controller/api/ports/stats.ts';

const names = Object.keys(CountersDocument.properties) as (keyof CountersDocument)[];

export function countersDocument(counters: InterfaceCounters): CountersDocument {
  const document = names.map((name) => [name, Number(counters[name])]);
  return Object.fromEntries(document) as CountersDocument;
}
