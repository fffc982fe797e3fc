//! iSLIP between virtual output queues: requests, grants, accepts, one after the other.

use super::Model;
use super::switch::Waiting;

impl Model {
    /// Matches inputs and outputs.
    pub(super) fn islip(&mut self, router: usize) {
        for iteration in 0..self.net.allocator.iterations {
            let here = &self.routers[router];
            let ports = here.inputs.len();
            let grants: Vec<Option<usize>> = (0..ports)
                .map(|output| {
                    let pointer = here.outputs[output].pointer;
                    let mut inputs = (0..ports).map(|step| (pointer + step) % ports);
                    inputs.find(|&input| self.requests(router, input, output).is_some())
                })
                .collect();
            for input in 0..ports {
                let pointer = self.routers[router].inputs[input].pointer;
                let mut outputs = (0..ports).map(|step| (pointer + step) % ports);
                let Some(output) = outputs.find(|&output| grants[output] == Some(input)) else {
                    continue;
                };
                self.accept(router, input, output);
                if iteration == 0 {
                    let here = &mut self.routers[router];
                    here.inputs[input].pointer = (output + 1) % ports;
                    here.outputs[output].pointer = (input + 1) % ports;
                }
            }
        }
    }

    /// The VC from which an idle input requests an idle output, and the place of the packet there: the
    /// first one for that output.
    fn requests(&self, router: usize, input: usize, output: usize) -> Option<(usize, usize)> {
        let here = &self.routers[router];
        if !here.input_idle(input) || !here.output_idle(output) {
            return None;
        }
        let lanes = &here.inputs[input].lanes;
        let turn = here.inputs[input].turns[output];
        (0..lanes.len()).map(|step| (turn + step) % lanes.len()).find_map(|vc| {
            let wants = |packet: &Waiting| packet.wish.is_some_and(|wish| wish.port == output);
            let place = lanes[vc].waiting.iter().position(wants)?;
            let Waiting { packet, wish } = lanes[vc].waiting[place];
            let wish = self.emptiest(router, wish?);
            self.ready(router, (input, vc), packet, wish).then_some((vc, place))
        })
    }

    fn accept(&mut self, router: usize, input: usize, output: usize) {
        let (vc, place) = self.requests(router, input, output).expect("a request");
        let wish = self.routers[router].inputs[input].lanes[vc].waiting[place].wish;
        let wish = self.emptiest(router, wish.expect("a routed packet"));
        let here = &mut self.routers[router].inputs[input];
        here.lanes[vc].waiting[place].wish = Some(wish);
        here.turns[output] = (vc + 1) % here.lanes.len();
        self.grant(router, (input, vc, place), wish);
    }
}
