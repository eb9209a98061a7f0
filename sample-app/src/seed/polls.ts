import type { EntityManager } from 'typeorm';
import { Choice } from '../polls/choice.entity.js';
import { Question } from '../polls/question.entity.js';

const QUESTIONS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "What's new?": { 'Not much': 3, 'The sky': 7 },
  'Which database do you use?': { PostgreSQL: 41, SQLite: 23, MariaDB: 17, 'MySQL 8': 12 },
  'Tabs or spaces?': { Tabs: 19, Spaces: 34, 'Whatever the formatter does': 58 },
  'How often do you deploy?': { 'Several times a day': 27, Daily: 22, Weekly: 31, Monthly: 14, Never: 2 },
  'Where do you work?': { Office: 12, Home: 38, Both: 45 },
  'What is the best time for a meeting?': { Morning: 16, 'After lunch': 9, Never: 66 },
  'Who writes the documentation?': { Everybody: 11, 'One of us': 29, 'Nobody yet': 24 },
  'Which language next?': { Rust: 33, Go: 21, Elixir: 15, 'None, thanks': 8 },
  'Coffee or tea?': { Coffee: 52, Tea: 37, Water: 18 },
};

export async function seedPolls(manager: EntityManager): Promise<void> {
  let day = Date.parse('2022-10-02T09:23:28.297Z');
  for (const [question_text, choices] of Object.entries(QUESTIONS)) {
    const question = await manager.save(Question, { question_text, pub_date: new Date(day) });
    const rows = Object.entries(choices).map(([choice_text, votes]) => ({ choice_text, votes, question }));
    await manager.save(Choice, rows);
    day += 37 * 86_400_000;
  }
}
