package learners
