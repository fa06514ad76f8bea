//! Slots that are being copied to a CUDA device while the host goes on.

use std::collections::VecDeque;

use anyhow::Result;

use super::slot::Slot;
use crate::model::event::Event;

/// Most of them; the host waits for the oldest before it gives the device one more.
const ON_THE_WAY: usize = 2;

pub(super) struct Copies {
    cuda: usize,
    /// The oldest first, each with a mark after its copy.
    on_the_way: VecDeque<(Slot, Event)>,
    /// Marks to use again.
    marks: Vec<Event>,
}

impl Copies {
    pub(super) fn to(cuda: usize) -> Self {
        Self { cuda, on_the_way: VecDeque::with_capacity(ON_THE_WAY + 1), marks: Vec::with_capacity(ON_THE_WAY + 1) }
    }

    /// Remembers a slot whose copy was just asked for, and gives back those whose copies are done.
    pub(super) fn add(&mut self, slot: Slot, mut done: impl FnMut(Slot)) -> Result<()> {
        let mut mark = self.marks.pop().map_or_else(Event::new, Ok)?;
        mark.record(self.cuda)?;
        self.on_the_way.push_back((slot, mark));
        while let Some((_, mark)) = self.on_the_way.front() {
            if self.on_the_way.len() > ON_THE_WAY {
                mark.wait()?;
            } else if !mark.is_reached()? {
                break;
            }
            if let Some((slot, mark)) = self.on_the_way.pop_front() {
                self.marks.push(mark);
                done(slot);
            }
        }
        Ok(())
    }
}
