import { AppError } from '@app/platform';

export class SkillNotFound extends AppError {
  constructor(id: string) {
    super(`Skill not found: ${id.slice(0, 100)}`, { kind: 'not-found', code: 'SKILL_NOT_FOUND' });
  }
}

export class SkillAlreadyExists extends AppError {
  constructor(name: string) {
    super(`Skill already exists: ${name}`, { kind: 'conflict', code: 'SKILL_ALREADY_EXISTS' });
  }
}

export class SuggestionNotFound extends AppError {
  constructor(id: string) {
    super(`Suggestion not found: ${id.slice(0, 100)}`, {
      kind: 'not-found',
      code: 'SUGGESTION_NOT_FOUND',
    });
  }
}

export class SuggestionAlreadyReviewed extends AppError {
  constructor(id: number, status: string) {
    super(`Suggestion ${id} was reviewed before: ${status.toLowerCase()}`, {
      kind: 'conflict',
      code: 'SUGGESTION_ALREADY_REVIEWED',
    });
  }
}
