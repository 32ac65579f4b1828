/** Reports of tests in the format of JUnit, as ginkgo and cyclonus write them. */
import type { CaseResult } from './results.ts';

/** Cases of a report; those that were not selected are left out. */
export function readJunit(text: string): CaseResult[] {
  return [...text.matchAll(/<testcase ([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs)]
    .map(([, attributes = '', body = '']) => readCase(attributes, body))
    .filter((result) => result !== undefined);
}

/** Cases of ginkgo beside the tests, of which only failures count. */
const SET_UP = /^\[(Before|After|Synchronized|Report|Deferred|Cleanup)/;

function readCase(attributes: string, body: string): CaseResult | undefined {
  const fullName = attribute(attributes, 'name');
  const name = fullName.replace(/^\[It\] /, '');
  const time = attribute(attributes, 'time');
  const seconds = time === '' ? undefined : Math.round(Number(time));
  const skipped = /<skipped\b([^>]*)>/.exec(body);
  if (skipped !== null) {
    // `skipped` alone means that the selection left it out; a test that skips itself gives its reason.
    const reason = attribute(skipped[1]!, 'message').replace(/^(skipped|pending)( - )?/, '');
    return reason === '' ? undefined : { name, outcome: 'skipped', message: reason, seconds };
  }
  const failure = /<(failure|error)\b([^>]*)>(.*?)<\/\1>/s.exec(body);
  if (failure !== null) {
    // The tests of Kubernetes leave the attribute out: the text begins with the message.
    const [, , head = '', text = ''] = failure;
    const message = attribute(head, 'message') || decoded(text.trim().split('\n', 1)[0]!);
    return { name, outcome: 'failed', message, seconds };
  }
  return SET_UP.test(fullName) ? undefined : { name, outcome: 'passed', message: '', seconds };
}

const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  amp: '&',
};

function attribute(attributes: string, name: string): string {
  const value = new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
  return decoded(value);
}

function decoded(value: string): string {
  return value.replaceAll(/&(?:#(x?)([0-9a-fA-F]+)|(\w+));/g, (text, hex, code, entity) => {
    if (entity !== undefined) return entities[entity] ?? text;
    return String.fromCodePoint(Number.parseInt(code, hex === 'x' ? 16 : 10));
  });
}
