/** The policies of the cluster that a node enforces. */
import { Type } from 'typebox';
import { type DocumentOf, text } from './document.ts';

export const EnforcementDocument = Type.Object({
  state: Type.Union([Type.Literal('settled'), Type.Literal('changing'), Type.Literal('failed')], {
    description:
      'changing: an event is processed, or none has configured VPP yet, so that it is not known now; failed: VPP is not connected, or was not configured since, or the last change was not applied, as the problem says.',
  }),
  problem: text('Why none may be enforced. Empty: they are, but for those that are listed.'),
  applied: text('Digest of all policies of the cluster that are applied.'),
  policies: Type.Array(
    Type.Object({
      policy: text('Name.'),
      code: Type.Union(
        [Type.Literal('NotCarried'), Type.Literal('NotResolved'), Type.Literal('NotConfigured')],
        {
          description:
            'NotCarried: VPP cannot carry it, because of its ports or of the size of a table. NotResolved: a record that it needs is incomplete. NotConfigured: VPP has rejected a table.',
        },
      ),
      reason: text('In words.'),
    }),
    {
      description:
        'Those that are not enforced as they are defined. They deny more, not less, unless the code is NotConfigured.',
    },
  ),
});
export type EnforcementDocument = DocumentOf<typeof EnforcementDocument>;
