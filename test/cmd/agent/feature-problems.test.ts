import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registerFeatureProblems } from '#cmd/agent/assembly/feature-problems.ts';
import type { StatusCheck } from '#infra/status/status.ts';

type Deps = Parameters<typeof registerFeatureProblems>[1];

interface ServiceState {
  readonly none?: string;
  readonly problems?: readonly string[];
  readonly pods?: readonly string[];
}

/** The text about services in the status. */
function textOf({ none, problems = [], pods = [] }: ServiceState): string | undefined {
  const texts = new Map<string, () => string | undefined>();
  const registerProblem: StatusCheck['registerProblem'] = (name, _fails, text) =>
    void texts.set(name, text as () => string | undefined);
  const services = {
    whyNoneIsCarried: () => none,
    serviceProblems: () => new Map(problems.map((name) => [name, ['']])),
    podsWithoutServices: () => pods,
  };
  registerFeatureProblems({ registerProblem } as StatusCheck, { services } as unknown as Deps);
  return texts.get('services')?.();
}

test('the status names services and pods that are not served as defined', () => {
  assert.equal(textOf({}), undefined);
  assert.equal(textOf({ none: 'no carrier' }), 'none is served: no carrier');
  assert.equal(
    textOf({ problems: ['shop/web', 'shop/db'], pods: ['shop/vm'] }),
    'not served as defined: shop/db; shop/web (GET /contiv/v1/services); pods that reach no service: shop/vm (GET /contiv/v1/pods)',
  );
});
