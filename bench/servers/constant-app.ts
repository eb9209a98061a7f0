import { Controller, Get, Module } from '@nestjs/common';

@Controller()
class ConstantController {
  @Get('constant')
  answer(): object {
    return { id: 1, question_text: 'constant' };
  }
}

/** The lower limit of the cost: Nest and its HTTP library with an empty handler. */
@Module({ controllers: [ConstantController] })
export class ConstantApp {}
