/** Documents about the encryption between this node and the others. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text } from './document.ts';

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
});
export type EncryptionDocument = DocumentOf<typeof EncryptionDocument>;
