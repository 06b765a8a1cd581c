import type { Type } from '@nestjs/common';
import {
  type FieldIssue,
  InvalidInput,
  isCleanText,
  isJsonObject,
  type JsonObject,
  RequestValidationPipe,
} from '@app/platform';
import type { SubjectKind } from '../grants/grant.js';
import { MAX_GRANTS, subjectKinds } from '../grants/grant.js';
import type { GivenGrant } from '../grants/give-grant.command.js';
import { OverrideDto } from '../overrides/overrides.dto.js';
import type { GivenOverride } from '../overrides/set-override.command.js';
import { MAX_OVERRIDES } from '../overrides/tool-override.js';
import { MAX_VIEWS, VIEW_SLUG } from '../views/view.js';
import type { GivenView } from '../views/view-document.js';
import { ViewDto } from '../views/views.dto.js';
import { DocumentGrantDto } from './policy-document.dto.js';

const MAX_TOOL_NAME = 255;

type DocumentPlace = readonly (string | number)[];

/** What views, grants and overrides are to be, as a person or an export writes it. */
export interface PolicyDocument {
  readonly views: ReadonlyMap<string, DocumentView>;
  /** Those for every view, by tool. */
  readonly overrides: DocumentOverrides;
}

export interface DocumentView {
  readonly view: GivenView;
  readonly grants: readonly Omit<GivenGrant, 'view'>[];
  readonly overrides: DocumentOverrides;
}

/** By `server.tool`. */
export type DocumentOverrides = ReadonlyMap<string, GivenOverride>;

/** Checks it as the REST API checks each part. Throws InvalidInput, which names the places. */
export async function readPolicyDocument(value: unknown): Promise<PolicyDocument> {
  const reader = new Reader();
  const document = await reader.document(value);
  if (reader.issues.length > 0) throw new InvalidInput(reader.issues);
  return document;
}

class Reader {
  readonly issues: FieldIssue[] = [];
  private readonly pipe = new RequestValidationPipe();

  async document(value: unknown): Promise<PolicyDocument> {
    const members = this.membersOf(value, ['body'], Infinity);
    for (const name of Object.keys(members)) {
      if (name !== 'views' && name !== 'overrides') {
        this.issues.push({ loc: ['body', name], msg: 'Unknown field', type: 'extra_forbidden' });
      }
    }
    const place = ['body', 'views'];
    const views = new Map<string, DocumentView>();
    const given = Object.entries(this.membersOf(members['views'], place, MAX_VIEWS));
    for (const [slug, view] of given) {
      if (!VIEW_SLUG.test(slug)) {
        const msg =
          'The name of a view has lower-case letters, digits and -, at most 63, and begins with no -';
        this.refuse([...place, slug.slice(0, 100)], msg);
      } else views.set(slug, await this.view(view, [...place, slug]));
    }
    const overrides = await this.overrides(members['overrides'], ['body', 'overrides']);
    return { views, overrides };
  }

  private async view(value: unknown, place: DocumentPlace): Promise<DocumentView> {
    const { grants, overrides, ...view } = this.membersOf(value, place, Infinity);
    return {
      view: (await this.part(ViewDto, view, place)) ?? { rules: [] },
      grants: await this.grants(grants, [...place, 'grants']),
      overrides: await this.overrides(overrides, [...place, 'overrides']),
    };
  }

  private async grants(value: unknown, place: DocumentPlace): Promise<DocumentView['grants']> {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value) || value.length > MAX_GRANTS) {
      this.refuse(place, `Must be a list of at most ${MAX_GRANTS} grants`);
      return [];
    }
    const grants: Omit<GivenGrant, 'view'>[] = [];
    const subjects = new Set<string>();
    for (const [i, given] of value.entries()) {
      const grant = await this.part(DocumentGrantDto, given, [...place, i]);
      if (!grant) continue;
      if (subjects.has(grant.subject)) {
        this.refuse([...place, i, 'subject'], 'Has a grant in this view already');
      }
      subjects.add(grant.subject);
      grants.push({
        ...subjectOf(grant.subject),
        level: grant.level,
        expiresAt: grant.expires_at == null ? null : new Date(grant.expires_at),
        callsPerMinute: grant.calls_per_minute ?? null,
      });
    }
    return grants;
  }

  private async overrides(value: unknown, place: DocumentPlace): Promise<DocumentOverrides> {
    const overrides = new Map<string, GivenOverride>();
    for (const [tool, given] of Object.entries(this.membersOf(value, place, MAX_OVERRIDES))) {
      const { server, name } = toolParts(tool);
      if (server === '' || name === '' || name.length > MAX_TOOL_NAME || !isCleanText(tool)) {
        this.refuse([...place, tool.slice(0, 100)], 'Must name the tool as server.tool');
      }
      const override = await this.part(OverrideDto, given, [...place, tool]);
      if (override) overrides.set(tool, override);
    }
    return overrides;
  }

  private async part<T extends object>(
    kind: Type<T>,
    value: unknown,
    place: DocumentPlace,
  ): Promise<T | undefined> {
    try {
      const read = await this.pipe.transform(value, { type: 'body', metatype: kind });
      return read instanceof kind ? read : undefined;
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      const issues = error.issues ?? [];
      this.issues.push(...issues.map((one) => ({ ...one, loc: [...place, ...one.loc.slice(1)] })));
      return undefined;
    }
  }

  private membersOf(value: unknown, place: DocumentPlace, most: number): JsonObject {
    if (value === undefined || value === null) return {};
    if (!isJsonObject(value)) {
      this.refuse(place, 'Input should be a JSON object', 'type_error');
      return {};
    }
    if (Object.keys(value).length <= most) return value;
    this.refuse(place, `Must have at most ${most} members`);
    return {};
  }

  private refuse(place: DocumentPlace, msg: string, type = 'value_error'): void {
    this.issues.push({ loc: [...place], msg, type });
  }
}

/** Names of servers have no dot; names of tools may. */
export function toolParts(key: string): { readonly server: string; readonly name: string } {
  const [server = ''] = key.split('.', 1);
  return { server, name: key.slice(server.length + 1) };
}

function subjectOf(key: string): Pick<GivenGrant, 'subjectKind' | 'subject'> {
  const [first = ''] = key.split(':', 1);
  const subjectKind: SubjectKind = subjectKinds.find((kind) => kind === first) ?? 'anyone';
  return { subjectKind, subject: key.slice(first.length + 1) };
}
