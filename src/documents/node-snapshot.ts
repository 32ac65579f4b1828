/** `GET /trace/node`: src/packet-trace/node-document.ts checks the other fields. */
import { Type } from 'typebox';

export const NodeSnapshot = Type.Object({ values: Type.Object({}) });
