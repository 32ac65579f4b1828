/** Documents about the encryption between this node and the others. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text, texts } from './document.ts';

export const EncryptionDocument = Type.Object({
  isOn: Type.Boolean({ description: 'Whether this node encrypts what it sends to others.' }),
  problem: orNull(Type.String(), 'Why this node has no keys; null: it has, or needs none.'),
  lifetimeMinutes: Type.Integer({ description: '0: keys are replaced only by command.' }),
  keys: Type.Array(
    Type.Object({
      interface: text('Of its sessions, by logical name.'),
      publicKey: text('Base64.'),
      made: text('RFC 3339.'),
      state: Type.Union(
        [Type.Literal('in use'), Type.Literal('to be replaced'), Type.Literal('being replaced')],
        { description: 'to be replaced: by command.' },
      ),
    }),
  ),
  otherNodes: Type.Object(
    {
      encrypted: Type.Integer(),
      withoutSession: Type.Integer({ description: 'Both have keys; nothing is sent.' }),
      isolated: Type.Integer({ description: 'Nothing is sent for want of a key.' }),
      inClearText: Type.Integer(),
      unreachable: Type.Integer({ description: 'For another reason: without an address, say.' }),
      namesWithoutSession: Type.Array(
        Type.Object({
          name: Type.String(),
          seconds: Type.Integer({
            description: 'Since the last session ended, or this agent has known the keys.',
          }),
        }),
        { description: 'The longest time first; at most 20, as in the other lists.' },
      ),
      namesIsolated: texts(''),
      namesInClearText: texts(''),
    },
    {
      description:
        'How packets to the other nodes are protected; all 0 if this node encrypts nothing.',
    },
  ),
});
export type EncryptionDocument = DocumentOf<typeof EncryptionDocument>;
