/** Whether the node enforces the policies of the cluster as they are defined. */
import type { EnforcementDocument } from '#documents/enforcement.ts';
import { useDocument } from '../../agent/use-document.ts';
import { Badge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import { enforcementText } from './enforcement-text.ts';

const REFRESH_MS = 30_000;

export function Enforcement() {
  const loaded = useDocument<EnforcementDocument>('contiv/v1/policy/enforcement', {
    everyMs: REFRESH_MS,
    afterEvents: true,
  });
  return (
    <section aria-labelledby="enforcement">
      <h2 id="enforcement">Policies of the cluster</h2>
      <Loading of={loaded} what="what is enforced">
        {(document) => <Found document={document} />}
      </Loading>
    </section>
  );
}

function Found({ document }: { readonly document: EnforcementDocument }) {
  const { tone, word, text } = enforcementText(document);
  return (
    <>
      <p>
        <Badge tone={tone}>{word}</Badge> {text}
      </p>
      {document.policies.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
        <section class="scroll" tabIndex={0} aria-label="Table of policies that are not enforced">
          <table class="not-enforced">
            <thead>
              <tr>
                <th scope="col">ClusterNetworkPolicy</th>
                <th scope="col">Reason</th>
                <th scope="col">What is wrong</th>
              </tr>
            </thead>
            <tbody>
              {document.policies.map(({ policy, code, reason }) => (
                <tr key={policy}>
                  <th scope="row">{policy}</th>
                  <td>{code}</td>
                  <td>{reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}
