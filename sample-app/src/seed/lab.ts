import type { EntityManager } from 'typeorm';
import { Student } from '../lab/student.entity.js';
import { System } from '../lab/system.entity.js';

const STUDENTS = [
  ['Ada', 'Mathematics', 'PhD', 'Analytical Engine', 'London'],
  ['Katherine', 'Physics', 'MSc', 'Orbit Calculator', 'Hampton'],
  ['Hedy', 'Engineering', 'BSc', 'Frequency Hopper', 'Vienna'],
  ['Konrad', 'Engineering', 'PhD', 'Z3', 'Berlin'],
  ['Mary', 'Computing', 'MSc', 'Ferranti Mark 1', 'Manchester'],
  ['Tim', 'Physics', 'BSc', null, null],
] as const;

export async function seedLab(manager: EntityManager): Promise<void> {
  for (const [name, discipline, program, system, location] of STUDENTS) {
    const student = await manager.save(Student, { name, discipline, program });
    if (system !== null) await manager.save(System, { name: system, location, student });
  }
  await manager.save(System, { name: 'Spare terminal', location: 'London', student: null });
}
